"""A machine against its own past: baselines, checks of a node, drift."""

"""The lecture figure and the slides: one format, few labels, one point at a glance."""

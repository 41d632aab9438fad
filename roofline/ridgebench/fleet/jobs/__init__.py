"""The jobs of a fleet: plan, submit, status."""

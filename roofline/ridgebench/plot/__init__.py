"""Static figures of a results directory: a figure is a pure function of its records."""

"""Tables of runs on a GPU."""

"""Tables that scripts/gpu_check.sh prints of the runs on a GPU."""

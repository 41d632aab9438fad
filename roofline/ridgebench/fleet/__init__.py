"""Many GPUs of one kind: plan, submit, collect, report."""

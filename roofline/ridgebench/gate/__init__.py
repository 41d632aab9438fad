"""Gates any benchmark: pairs of processes, verdicts with a stated error rate, reports for continuous integration."""

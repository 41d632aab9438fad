"""Results for other programs: tables, a data frame, metrics for Prometheus."""

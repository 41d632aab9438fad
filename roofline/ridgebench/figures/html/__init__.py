"""One self-contained HTML page of runs and data sheets: roofline, table, provenance."""

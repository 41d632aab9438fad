"""The files of a fleet's report: HTML, Markdown, JSON, CSV, JUnit, Prometheus metrics, and the map as a picture."""

"""Results from and for other programs: imports, exports, schemas, counters of a profiler, STREAM."""

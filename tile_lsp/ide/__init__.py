"""Features: each a pure function of `analysis.snapshot.Snapshot`. Nothing here waits, does I/O, or knows a protocol."""

"""The only I/O and the only state that changes over time: store, worker pool, tools, workspace, session."""

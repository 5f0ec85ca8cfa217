"""Values shared by every layer. Imports nothing of ours; nothing here does I/O.

Structs are frozen and compared by value. They encode to JSON with msgspec as they stand: what is on the wire,
in the cache and in `--json` output is the same form.
"""

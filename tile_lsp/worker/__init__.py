"""What runs in the user's interpreter: Python ≥ 3.10, standard library only, imports nothing of tile_lsp's other
packages.

Started by path (`__main__.py`), it loads itself under a private name, so that nothing on the user's path can take the
place of one of its modules, nor the other way round.
"""

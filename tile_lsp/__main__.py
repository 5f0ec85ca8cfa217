"""`python -m tile_lsp`, the same as the command `tile-lsp`."""

from tile_lsp.cli import main

if __name__ == "__main__":
    raise SystemExit(main())

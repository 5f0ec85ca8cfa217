"""The command line. `main` answers `--version` and starts the language server without loading the rest."""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]

_SERVER_OPTIONS = frozenset({"--stdio", "--tcp"})


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command line (without the program's name) and returns its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments[:1] == ["--version"]:
        from tile_lsp import __version__

        sys.stdout.write(f"tile-lsp {__version__}\n")
        return 0
    if not _SERVER_OPTIONS.isdisjoint(arguments):
        from tile_lsp.server import main as serve

        return serve(arguments)
    from .output import run_command

    return run_command(arguments)

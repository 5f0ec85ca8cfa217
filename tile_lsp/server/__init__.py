"""The language server: the only place that knows pygls and lsprotocol. It translates, nothing more."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """`tile-lsp --stdio` (the default) and `tile-lsp --tcp`. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="tile-lsp", description="Language server for GPU kernels.")
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--stdio", action="store_true", help="speak on standard input and output (the default)")
    way.add_argument("--tcp", action="store_true", help="wait for one client on a TCP port")
    parser.add_argument("--host", default="127.0.0.1", help="address for --tcp (%(default)s)")
    parser.add_argument("--port", type=int, default=0, help="port for --tcp; 0, the default, takes a free one")
    parser.add_argument(
        "--log-level",
        default=os.environ.get("TILE_LSP_LOG", "warning"),
        type=str.lower,
        choices=["debug", "info", "warning", "error"],
        help="what goes to standard error (%(default)s; also TILE_LSP_LOG)",
    )
    # Clients append arguments of their own, such as --clientProcessId.
    options, _ = parser.parse_known_args(argv)
    logging.basicConfig(
        stream=sys.stderr,
        level=options.log_level.upper(),
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    from . import lsp  # noqa: F401 - before pygls, which would import the same at full cost
    from .run import run_stdio, run_tcp

    return run_tcp(options.host, options.port) if options.tcp else run_stdio()

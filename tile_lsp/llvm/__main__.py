"""`<python> <this folder> OPERATION INPUT OUTPUT [--cpu CPU] [--optimize]`: LLVM IR in, an answer out.

    slice     the kernel and what it calls, verified, as LLVM prints it
    remarks   what the optimiser has to say of it, a line each: `!NODE: MESSAGE`, of the input's debug information
    ptx       what LLVM's own NVPTX makes of it

Exits with 1 and says why where LLVM won't. May be ended by a signal: that is LLVM's way.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

OPERATIONS = ("slice", "remarks", "ptx")


def main() -> int:
    parser = argparse.ArgumentParser(prog="llvm", allow_abbrev=False)
    parser.add_argument("operation", choices=OPERATIONS)
    parser.add_argument("input", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--cpu", default="", help="as LLVM names it: sm_90a")
    parser.add_argument("--optimize", action="store_true", help="run LLVM's pipeline first")
    given = parser.parse_args()
    # After the command line, which needs none of it.
    import modules
    import passes

    text = given.input.read_text(encoding="utf-8")
    try:
        if given.operation == "slice":
            answer = modules.shown(modules.load(text))
        elif given.operation == "remarks":
            answer = passes.remarks(text, given.cpu)
        else:
            answer = passes.assembly(text, given.cpu, optimize=given.optimize)
    except (RuntimeError, ValueError) as error:
        sys.stderr.write(f"{str(error).strip()}\n")
        return 1
    given.output.write_text(answer, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

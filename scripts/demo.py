"""The main job on one kernel of examples/: its types, then what it compiles to, without a GPU."""

from __future__ import annotations

import os
import re
import subprocess
import sys

COMMAND = os.path.join(".venv", "bin", "tile-lsp")
KERNEL = "examples/cutile/matmul.py::matmul"
WIDTH = 120

NEXT = f"""\
  {COMMAND} jobs examples/cutile/attention.py
      the kernels of a file, and what each is compiled for
  {COMMAND} show resources {KERNEL} --target sm_90 --target sm_100 --hint num_ctas=2
      registers, shared memory and spills, target by target
  {COMMAND} show types FILE::KERNEL --arg 'A=f16[4096,4096]'
      a kernel of your own; the comment above it can say the same: # tile-lsp: A=f16[4096,4096]
  {COMMAND} doctor
      interpreters, compilers, and what is missing
  README.md says how your editor starts the language server, {COMMAND} --stdio
"""


def show(stage: str, *, start: str | None = None, lines: int = 24) -> None:
    """Print a stage: all of it, or its header and some lines from the first one on that matches `start`."""
    title(f"tile-lsp show {stage} {KERNEL} --target sm_90")
    command = [sys.executable, "-m", "tile_lsp", "show", stage, KERNEL, "--target", "sm_90"]
    ran = subprocess.run(command, stdout=subprocess.PIPE, encoding="utf-8", check=False)
    if ran.returncode != 0:
        sys.exit(ran.returncode)
    text = ran.stdout.splitlines()
    if start is None:
        shown = text
    else:
        first = next((index for index, line in enumerate(text) if re.search(start, line)), 3)
        shown = [*text[:3], "    …", *text[first : first + lines], f"    … {len(text)} lines in all"]
    for line in shown:
        print(line if len(line) <= WIDTH else f"{line[: WIDTH - 1]}…")


def title(text: str) -> None:
    bold, plain = ("\033[1m", "\033[0m") if sys.stdout.isatty() else ("", "")
    print(f"\n{bold}$ {text}{plain}")


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    show("types")
    show("ptx", start=r"wgmma\.fence")
    show("sass", start="HGMMA")
    print(f"\nWhat to try next:\n{NEXT}", end="")

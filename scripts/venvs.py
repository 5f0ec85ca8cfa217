"""Virtual environments with the compilers that tests drive, each on its own as a user would have it: build/venvs/NAME.

    python scripts/venvs.py [NAME...]

NAME is an extra of pyproject.toml that brings a compiler, or one with a version of it (`triton-3.6`); all of them by
default. Its versions are those of constraints/NAME.txt. Nothing is done where that was done before.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "build" / "venvs"


def compilers() -> dict[str, list[str]]:
    """Extras with versions of their own, and what each asks for."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    names = sorted(path.stem for path in (ROOT / "constraints").glob("*.txt"))
    return {name: extras[extra] for name in names if (extra := name.partition("-")[0]) in extras}


def make(name: str, requirements: list[str]) -> None:
    constraints = ROOT / "constraints" / f"{name}.txt"
    stamp = FOLDER / f"{name}.stamp"
    wanted = hashlib.sha256(repr((requirements, constraints.read_text(), sys.version)).encode()).hexdigest()
    if stamp.exists() and stamp.read_text() == wanted:
        return
    print(f"Installing {', '.join(requirements)} into build/venvs/{name} …", flush=True)
    venv.create(FOLDER / name, clear=True, with_pip=True)
    pip = [str(FOLDER / name / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--no-input", "-c", str(constraints), *requirements], check=True)
    stamp.write_text(wanted)


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    known = compilers()
    for name in sys.argv[1:] or known:
        make(name, known[name])


if __name__ == "__main__":
    main()

"""What the VS Code extension brings along: the server and all that it imports, for each Python that can run it here.

    bundle.py FOLDER

    FOLDER/server.py        starts it
    FOLDER/libs/            our package, and those that are pure Python
    FOLDER/native/SOABI/    compiled packages, for each version of CPython
    FOLDER/tile_lsp-….whl   for interpreters of other kinds: what the offer to install uses

Only wheels are taken, at the versions of constraints.txt. They are kept between runs until one of those changes.
"""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "build/bundled"
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
GLIBC = ("2_17", "2_28", "2_34")
# The command line's alone, which nothing here starts.
TERMINAL = frozenset({"click", "markdown_it_py", "mdurl", "pygments", "rich"})
# What no program needs at run time.
LEFT_OUT = ("tests/", "test/")


def main(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    pip("wheel", "--no-deps", "--wheel-dir", folder, ROOT)
    (wheel,) = folder.glob("*.whl")
    unpack(wheel, folder / "libs")
    for version in VERSIONS:
        for path in sorted(dependencies(version, wheel).glob("*.whl")):
            pure = path.name.endswith("-none-any.whl")
            unpack(path, folder / "libs" if pure else folder / "native" / soabi(version))
    shutil.copy(ROOT / "vscode-extension/scripts/server.py", folder)


def dependencies(version: str, wheel: Path) -> Path:
    """A folder with the wheels that our package needs in a version of Python."""
    stamp = "\n".join([version, *GLIBC, *((ROOT / name).read_text() for name in ("pyproject.toml", "constraints.txt"))])
    folder = KEPT / soabi(version)
    made = folder / "made-from"
    if made.is_file() and made.read_text() == stamp:
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    tags = (option for glibc in GLIBC for option in ("--platform", f"manylinux_{glibc}_{platform.machine()}"))
    which = ("--only-binary=:all:", "--implementation=cp", f"--python-version={version}", *tags)
    pip("download", *which, "--constraint", ROOT / "constraints.txt", "--dest", folder, wheel)
    for path in folder.glob("*.whl"):
        if path.name.partition("-")[0].lower() in TERMINAL or path.name == wheel.name:
            path.unlink()
    made.write_text(stamp)
    return folder


def soabi(version: str) -> str:
    """What `sysconfig.get_config_var("SOABI")` is there."""
    return f"cpython-{version.replace('.', '')}-{platform.machine()}-linux-gnu"


def unpack(wheel: Path, folder: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if not any(f"/{part}" in name for part in LEFT_OUT)]
        archive.extractall(folder, names)


def pip(*arguments: str | Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *map(str, arguments)],
        check=True,
        cwd=tempfile.gettempdir(),
    )


if __name__ == "__main__":
    if sys.platform != "linux":
        sys.exit(f"scripts/bundle.py: compiled packages are fetched for Linux; this is {sys.platform}")
    main(Path(sys.argv[1]).resolve())

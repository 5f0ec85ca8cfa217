"""The commands and their options. What they do is imported when they run, so that `--help` and errors come at once."""

from __future__ import annotations

import click

from .exits import Exit, UsageError

_CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class _Command(click.Command):
    """Says what is wrong with a command line as click does."""

    def invoke(self, context: click.Context) -> Exit:
        try:
            return super().invoke(context)
        except UsageError as error:
            raise click.UsageError(str(error), context) from error


class _Group(click.Group):
    command_class = _Command

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        from .names import closest

        if args and not args[0].startswith("-") and self.get_command(context, args[0]) is None:
            context.fail(f"there is no command {args[0]}{closest(args[0], self.list_commands(context))}")
        return super().resolve_command(context, args)


_Group.group_class = _Group


@click.group(cls=_Group, context_settings=_CONTEXT, options_metavar="[--stdio | --tcp]")
def commands() -> None:
    """What the compiler makes of a GPU kernel: types, IR, PTX and SASS, without a GPU.

    As a language server: tile-lsp --stdio, or tile-lsp --tcp [--host HOST] [--port PORT].
    """


@commands.command(short_help="types, IR, PTX or SASS of a kernel")
@click.argument("stage")
@click.argument("kernel", metavar="FILE::KERNEL")
@click.option(
    "--arg", "arguments", multiple=True, metavar="NAME=TYPE", help="An argument's type, or a constant's value."
)
@click.option("--target", "targets", multiple=True, metavar="ARCH", help="An architecture, such as sm_90.")
@click.option("--hint", "hints", multiple=True, metavar="NAME=VALUE", help="A hint, such as num_ctas=2.")
@click.option("--python", metavar="INTERPRETER", help="The Python that has the compiler.")
@click.option("--json", "as_json", is_flag=True, help="A JSON object a job: job, text, and the source of each line.")
@click.option("--stats", is_flag=True, help="End standard error with counters of what ran, as JSON.")
def show(
    stage: str,
    kernel: str,
    arguments: tuple[str, ...],
    targets: tuple[str, ...],
    hints: tuple[str, ...],
    python: str | None,
    as_json: bool,
    stats: bool,
) -> Exit:
    """Compile a kernel as far as STAGE and print what came of it.

    STAGE is types, ptx, cubin, sass, resources, remarks, or an IR of the kernel's language: hir, typed, tileir, ttir,
    ttgir, llvm, amdgcn. KERNEL may be left out where the file has just one. What the options leave open is taken from
    the comment above the kernel, the project's settings, and annotations and defaults. All but --python, --json and
    --stats may be given several times.

    \b
      tile-lsp show types matmul.py::matmul
      tile-lsp show sass matmul.py::matmul --target sm_90 --target sm_100 --hint num_ctas=2
      tile-lsp show ptx matmul.py::matmul --arg A=bf16[8192,?] --arg tm=64

    Exits with 1 for an error in the kernel, 2 for an error in the command line, 3 for one in the environment.
    """
    from .show import ShowRequest, run

    return run(ShowRequest(stage, kernel, arguments, targets, hints, python, as_json, stats))


@commands.command(short_help="control-flow graph of a kernel's machine code or LLVM IR")
@click.argument("stage", type=click.Choice(["sass", "amdgcn", "llvm"]))
@click.argument("kernel", metavar="FILE::KERNEL")
@click.option(
    "--arg", "arguments", multiple=True, metavar="NAME=TYPE", help="An argument's type, or a constant's value."
)
@click.option("--target", metavar="ARCH", help="An architecture, such as sm_90.")
@click.option("--hint", "hints", multiple=True, metavar="NAME=VALUE", help="A hint, such as num_ctas=2.")
@click.option("--python", metavar="INTERPRETER", help="The Python that has the compiler.")
@click.option("-o", "--output", metavar="FILE", help="A picture (.svg, .pdf, .png, by Graphviz), or a .dot file.")
def graph(
    stage: str,
    kernel: str,
    arguments: tuple[str, ...],
    target: str | None,
    hints: tuple[str, ...],
    python: str | None,
    output: str | None,
) -> Exit:
    """Print the control-flow graph of a kernel in Graphviz' language, or draw it.

    \b
      tile-lsp graph sass matmul.py::matmul --target sm_90 -o matmul.svg
      tile-lsp graph llvm matmul.py::matmul --target sm_90 | xdot -
    """
    from .graph import run
    from .show import ShowRequest

    targets = (target,) if target else ()
    return run(ShowRequest(stage, kernel, arguments, targets, hints, python), output)


@commands.command(short_help="the kernels of a file, and what each is compiled for")
@click.argument("file")
@click.option("--python", metavar="INTERPRETER", help="The Python that has the compiler.")
@click.option("--json", "as_json", is_flag=True, help="As one JSON object.")
def jobs(file: str, python: str | None, as_json: bool) -> Exit:
    """List the kernels of FILE with their jobs: arguments, and where each came from; target, hints, key.

    Exits with 1 for an error in a job comment, or in a kernel's text that leaves it without jobs, 3 for one in the
    environment.
    """
    from .jobs import run

    return run(file, python, as_json=as_json)


@commands.command(short_help="keep the kernels of a folder compiled while they are edited")
@click.argument("path")
@click.option("--python", metavar="INTERPRETER", help="The Python that has the compiler.")
def watch(path: str, python: str | None) -> Exit:
    """Watch a file, or all below a folder: how each kernel stands, and what it costs, as it changes. Ctrl-C ends it."""
    from .watch import run

    return run(path, python)


@commands.command(short_help="interpreters, compilers, tools, and what is missing")
@click.option("--python", metavar="INTERPRETER", help="Look at this Python only.")
def doctor(python: str | None) -> Exit:
    """Look at the Python interpreters that kernels here may run in: compilers, tools, and what is missing."""
    from .doctor import run

    return run(python)


@commands.group(short_help="the artifacts kept on disk")
def cache() -> None:
    """The artifacts kept on disk, shared by all processes of a user."""


@cache.command("info")
def cache_info() -> Exit:
    """Where they are, how many, and how large."""
    from .cache import info

    return info()


@cache.command("clear")
def cache_clear() -> Exit:
    """Remove all of them."""
    from .cache import clear

    return clear()


@cache.command("gc")
def cache_gc() -> Exit:
    """Remove those not read for longest, until the rest fits the size that the settings allow."""
    from .cache import collect

    return collect()

"""Arguments from launches that can be read without running them: `kernel[grid](x, n, BLOCK=1024, num_warps=8)`."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

import msgspec

from tile_lsp.analysis.python import KernelSite, asked_of_all
from tile_lsp.analysis.tree import children
from tile_lsp.frontends.names import Names
from tile_lsp.model.job import Scalar

from . import spec
from .hints import HINTS, check_hint

#: The most that is taken for a length that is known to be no more than something.
_USUAL = 4096
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Launch(msgspec.Struct, frozen=True):
    """What one launch tells."""

    where: str
    """`"add.py:31"`."""
    arguments: dict[str, str]
    """Parameter → spec of a constant."""
    hints: dict[str, Scalar] = {}
    blocks: dict[str, tuple[int, ...]] = {}
    """Block shapes of tensor descriptors, by parameter."""


class _Site(msgspec.Struct, frozen=True):
    call: ast.Call
    around: tuple[ast.FunctionDef | ast.AsyncFunctionDef, ...]
    offset: int = 0
    """Lines of the file before those that the nodes count from."""


def read_launch(
    kernel: KernelSite, constants: frozenset[str], names: Names, *, hints_only: bool = False
) -> Launch | None:
    """The launch in the kernel's own file that tells most; where there is none, that in a file near it. `hints_only`:
    the arguments are known from elsewhere, so no other file is asked.
    """
    if kernel.definition is None:
        return None
    name = kernel.definition.name
    sites = [site for site in _sites_in(kernel.path, names).get(name, ()) if _sees(site, kernel)]
    found = _best(kernel, constants, kernel.path, sites, names, hints_only)
    if found is not None or kernel.scope or hints_only:
        return found
    for path in names.neighbours(kernel.path):
        if names.mentions(path, name):
            sites = [site for every in _sites_in(path, names).values() for site in every]
            ours = [site for site in sites if _is_of(kernel, site, path, names)]
            found = _best(kernel, constants, path, ours, names, hints_only)
            if found is not None:
                return found
    return None


def _best(
    kernel: KernelSite, constants: frozenset[str], path: str, sites: Sequence[_Site], names: Names, hints_only: bool
) -> Launch | None:
    made = [_read(kernel, constants, path, site, names, hints_only) for site in sites]
    return max(made, key=lambda launch: len(launch.arguments), default=None)


def _sees(site: _Site, kernel: KernelSite) -> bool:
    """False for a launch of another kernel of that name, which is another function's own."""
    around = {function.name for function in site.around}
    return all(name in around for kind, name in kernel.scope if kind == "function")


def _is_of(kernel: KernelSite, site: _Site, path: str, names: Names) -> bool:
    """True if what another file launches is this kernel."""
    function = site.call.func
    launched = function.value if isinstance(function, (ast.Subscript, ast.Attribute)) else function
    found = names.function(launched, path)
    return found is not None and found[1] == kernel.path and getattr(found[0], "name", "") == kernel.definition.name  # type: ignore[union-attr]


def _sites_in(path: str, names: Names) -> dict[str, list[_Site]]:
    return names.cached(("triton launches", path), lambda: _sites(path, names))


def _sites(path: str, names: Names) -> dict[str, list[_Site]]:
    """Launches by the kernel's name."""
    found: dict[str, list[_Site]] = {}
    for placed in names.placed(path):
        for name, site in placed.statement.known("triton launches", _sites_of):
            found.setdefault(name, []).append(msgspec.structs.replace(site, offset=placed.offset))
    return found


def _sites_of(statement: ast.stmt) -> list[tuple[str, _Site]]:
    found: list[tuple[str, _Site]] = []

    def visit(node: ast.AST, around: tuple[ast.FunctionDef | ast.AsyncFunctionDef, ...]) -> None:
        if isinstance(node, _FUNCTIONS):
            if any("jit" in ast.unparse(decorator) for decorator in node.decorator_list):
                return  # a kernel launches nothing
            around = (*around, node)
        if isinstance(node, ast.Call) and (name := _launched(node)) is not None:
            found.append((name, _Site(node, around)))
        for child in children(node):
            visit(child, around)

    visit(statement, ())
    return found


asked_of_all("triton launches", _sites_of, ("[", "run", "warmup"))


def _launched(node: ast.Call) -> str | None:
    function = node.func
    if isinstance(function, ast.Subscript) or (
        isinstance(function, ast.Attribute) and function.attr in ("run", "warmup")
    ):
        function = function.value
    else:
        return None
    if isinstance(function, ast.Call) and ast.unparse(function.func).endswith("wrap_triton") and function.args:
        # For torch to trace it.
        function = function.args[0]
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else None


def _read(
    kernel: KernelSite, constants: frozenset[str], path: str, site: _Site, names: Names, hints_only: bool
) -> Launch:
    where = names.place(path, site.offset + site.call.lineno)
    arguments: dict[str, str] = {}
    hints: dict[str, Scalar] = {}
    positional = [p.name for p in kernel.parameters if p.kind in ("positional", "normal")]
    given: list[tuple[str, ast.expr]] = []
    for name, node in zip(positional, site.call.args, strict=False):
        if isinstance(node, ast.Starred):
            break
        given.append((name, node))
    given += [(keyword.arg, keyword.value) for keyword in site.call.keywords if keyword.arg]
    known = {parameter.name for parameter in kernel.parameters}
    blocks: dict[str, tuple[int, ...]] = {}
    for name, node in given:
        if hints_only and name in known:
            continue
        values = _Values(site, path, names, kernel.path)
        if (shape := values.block_shape(node)) is not None:
            blocks[name] = shape
            continue
        value = values.spec(node)
        if value is None:
            continue
        if name in known:
            if name not in constants and values.is_constexpr(node):
                # A constant whatever the annotation is; written so where the kernel's file has the word.
                value = f"={ast.unparse(node.func)}({value})" if path == kernel.path else ""  # type: ignore[attr-defined]
            elif name not in constants and value not in ("None",):
                made = spec.canonical(value, name, constexpr=False)
                # A number at one launch is any number: what a launch finds out of it is not what the next one does.
                value = made if isinstance(made, str) else ""
            if value:
                arguments[name] = value
        elif name in HINTS:
            found = ast.literal_eval(value) if not value.startswith("=") else None
            if isinstance(found, (int, bool, str)) and check_hint(name, found) is None:
                hints[name] = found
    return Launch(where, arguments, hints, blocks)


def _bound_in(function: ast.FunctionDef | ast.AsyncFunctionDef) -> dict[str, list[ast.expr]]:
    arguments = (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
    found: dict[str, list[ast.expr]] = {argument.arg: [] for argument in arguments}
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.setdefault(node.id, [])
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    found.setdefault(target.id, []).append(node.value)
    return found


class _Values:
    """Values of expressions in the function that launches."""

    def __init__(self, site: _Site, path: str, names: Names, home: str) -> None:
        """`home`: the file of the kernel, in which expressions are evaluated."""
        self.home = home
        self.around = site.around
        self.offset = site.offset
        self.path = path
        self.names = names
        self.depth = 0

    def spec(self, node: ast.expr) -> str | None:
        self.depth += 1
        try:
            return self._spec(node) if self.depth < 12 else None
        finally:
            self.depth -= 1

    def _spec(self, node: ast.expr) -> str | None:
        match node:
            case ast.Constant():
                return spec.literal(node.value)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
                return spec.literal(-value)
            case ast.Name(id=name):
                local = self._local(name)
                if local is not None:
                    return self.spec(local)
                if self._is_local(name):
                    return None
                if (function := self._function(node)) is not None:
                    return function
            case ast.Compare(left=left, ops=[ast.Is() | ast.IsNot()], comparators=[ast.Constant(value=None)]):
                inner = self.spec(left)
                if inner is None and not self._is_tensor(left):
                    return None
                return str((inner == "None") == isinstance(node.ops[0], ast.Is))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                chosen = self.spec(test)
                if chosen in ("True", "False"):
                    return self.spec(body if chosen == "True" else orelse)
                return None
            case ast.Attribute():
                dotted = self.names.dotted(node, self.path)
                if dotted is not None and dotted.startswith(("triton.language.", "torch.")):
                    return spec.dtype(dotted.rpartition(".")[2]) or self._of_language(node, dotted)
                return self._function(node)
            case ast.Call(func=function, args=arguments):
                dotted = self.names.dotted(function, self.path) or ""
                numbers = [self._number(argument) for argument in arguments]
                if dotted.endswith("next_power_of_2") and numbers and numbers[0]:
                    return str(1 << (numbers[0] - 1).bit_length())
                if dotted in ("builtins.min", "builtins.max") and any(numbers):
                    # Of what can't be read, the constant is the bound: one that is as large as can be is not the value.
                    known = (min if dotted.endswith("min") else max)(n for n in numbers if n)
                    return str(known if all(numbers) or dotted.endswith("max") else min(known, _USUAL))
                if self.is_constexpr(node):
                    return self.spec(arguments[0])
                if dotted.endswith("cdiv") and len(numbers) == 2 and all(numbers):
                    return str(-(-numbers[0] // numbers[1]))  # type: ignore[operator]
                return None
        known = self.names.constant(node, self.path)
        return spec.literal(known.value) if known is not None else None

    def is_constexpr(self, node: ast.expr) -> bool:
        """`tl.constexpr(32)`."""
        if not isinstance(node, ast.Call) or len(node.args) != 1:
            return False
        return (self.names.dotted(node.func, self.path) or "").endswith(".language.constexpr")

    def _function(self, node: ast.expr) -> str | None:
        """A function of the workspace, as the kernel's file names it."""
        function, path = self.names.function(node, self.path) or (None, "")
        if not isinstance(function, ast.FunctionDef):
            return None
        if path == self.home:
            return f"={function.name}"
        return f"={ast.unparse(node)}" if self.path == self.home else None

    def _of_language(self, node: ast.expr, dotted: str) -> str | None:
        return f"={ast.unparse(node)}" if self.path == self.home and dotted.startswith("triton.language.") else None

    def block_shape(self, node: ast.expr) -> tuple[int, ...] | None:
        """Of a tensor descriptor that the host makes: `TensorDescriptor.from_tensor(x, [64, 64])`."""
        if isinstance(node, ast.Name) and (local := self._local(node.id)) is not None:
            node = local
        if not isinstance(node, ast.Call):
            return None
        word = ast.unparse(node.func)
        if not word.endswith(("TensorDescriptor", "TensorDescriptor.from_tensor")):
            return None
        given = next((keyword.value for keyword in node.keywords if keyword.arg == "block_shape"), None)
        at = 1 if word.endswith("from_tensor") else 3
        given = given or (node.args[at] if len(node.args) > at else None)
        if isinstance(given, ast.Name):
            given = self._local(given.id) or given
        if not isinstance(given, (ast.List, ast.Tuple)):
            return None
        lengths = [self._number(length) for length in given.elts]
        # Rows of one element are narrower than a descriptor may be: somebody sets the shape later.
        return tuple(length for length in lengths if length) if all(lengths) and lengths[-1:] != [1] else None

    def _number(self, node: ast.expr) -> int | None:
        text = self.spec(node)
        return int(text) if text is not None and text.isdecimal() else None

    def _local(self, name: str) -> ast.expr | None:
        """The only value that a local name is given, or a parameter's default."""
        for function in reversed(self.around):
            values = self._bound(function).get(name, ())
            if len(values) == 1:
                return values[0]
            if values:
                return None
            arguments = function.args
            positional = [*arguments.posonlyargs, *arguments.args]
            defaults = dict(zip([a.arg for a in positional[::-1]], arguments.defaults[::-1], strict=False))
            defaults |= {
                a.arg: default
                for a, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
                if default is not None
            }
            default = defaults.get(name)
            if default is not None and not (isinstance(default, ast.Constant) and default.value is None):
                return default
            if default is not None:
                # What may be left out is not left out here as far as one can see.
                return None
        return None

    def _is_local(self, name: str) -> bool:
        return any(name in self._bound(function) for function in self.around)

    def _bound(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> Mapping[str, list[ast.expr]]:
        """What a function binds, with the values that plain assignments give; read once."""
        key = ("triton bound", self.path, str(self.offset + function.lineno), function.name)
        return self.names.cached(key, lambda: _bound_in(function))

    def _is_tensor(self, node: ast.expr) -> bool:
        """A parameter without a default that is there: an array, not None."""
        return isinstance(node, ast.Name) and any(
            argument.arg == node.id for function in self.around for argument in function.args.args
        )

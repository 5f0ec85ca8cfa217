"""Which functions made by `triton.jit` are kernels: the same decorator makes the helpers that kernels call."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tile_lsp.analysis.python import KernelSite, Workspace, asked_of_all
from tile_lsp.analysis.tree import walk
from tile_lsp.frontends.names import Names, chain

DECORATORS = frozenset(
    {
        "triton.jit",
        "triton.runtime.jit",
        "triton.runtime.jit.jit",
        "triton.experimental.gluon.jit",
        "triton.experimental.gluon._runtime.jit",
    }
)
_TUNERS = ("autotune", "heuristics")


def is_kernel(site: KernelSite, workspace: Workspace) -> bool:
    """False for a function that gives a value back, for a method of an aggregate, and for one that other functions
    call, or hand on, and nobody launches.

    A launch, an autotuner, a heuristic or a job comment above it says that it is one.
    """
    node = site.definition
    if node is None:
        return True
    if any("tile-lsp" in line.text for line in site.comment_lines):
        return True
    if _is_method(site):
        return False
    names = Names.of(workspace)
    if any(_last(decorator) in _TUNERS or "tune" in _last(decorator) for decorator in node.decorator_list):
        return True
    if _returns_value(node):
        return False
    called, launched = _calls(names, site.path)
    if node.name in called or node.name in launched:
        return node.name in launched
    return not _is_called_near(node.name, site, names)


def _is_called_near(name: str, site: KernelSite, names: Names) -> bool:
    """True if a file near it calls it, and none launches it."""
    found = False
    for path in names.neighbours(site.path) if not site.scope else ():
        if not names.mentions(path, name):
            continue
        called, launched = _calls(names, path)
        meant = names.function(ast.Name(name), path) if name in called or name in launched else None
        if meant is not None and meant[1] == site.path:
            if name in launched:
                return False
            found = True
    return found


def _is_method(site: KernelSite) -> bool:
    """True for what is called on a value: nobody could launch it."""
    in_class = bool(site.scope) and site.scope[-1][0] == "class"
    return in_class and [parameter.name for parameter in site.parameters[:1]] == ["self"]


def _last(decorator: ast.expr) -> str:
    names = chain(decorator.func if isinstance(decorator, ast.Call) else decorator)
    return names[-1] if names else ""


def _returns_value(node: ast.AST) -> bool:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Return) and child.value is not None:
            return not (isinstance(child.value, ast.Constant) and child.value.value is None)
        if not isinstance(child, (ast.FunctionDef, ast.Lambda, ast.ClassDef)) and _returns_value(child):
            return True
    return False


def _calls(names: Names, path: str) -> tuple[frozenset[str], frozenset[str]]:
    """Names that are called, and names that are launched (`name[grid](…)`)."""
    return names.cached(("triton calls", path), lambda: _calls_of(names, path))


def _calls_of(names: Names, path: str) -> tuple[frozenset[str], frozenset[str]]:
    called: set[str] = set()
    launched: set[str] = set()
    for placed in names.placed(path):
        one, other = placed.statement.known("triton calls", _calls_in)
        called |= one
        launched |= other
    return frozenset(called), frozenset(launched)


def _calls_in(statement: ast.stmt) -> tuple[frozenset[str], frozenset[str]]:
    called: set[str] = set()
    launched: set[str] = set()
    for node in walk(statement):
        if isinstance(node, ast.FunctionDef) and any("jit" in ast.unparse(each) for each in node.decorator_list):
            called |= _handed_on(node)
        elif isinstance(node, ast.Call):
            if isinstance(node.func, ast.Subscript) and isinstance(node.func.value, ast.Name):
                launched.add(node.func.value.id)
            elif isinstance(node.func, ast.Attribute | ast.Name) and ast.unparse(node.func).endswith("wrap_triton"):
                launched.update(argument.id for argument in node.args if isinstance(argument, ast.Name))
            elif isinstance(node.func, ast.Name):
                called.add(node.func.id)
            elif isinstance(node.func, ast.Attribute) and node.func.attr in ("warmup", "run"):
                launched.update([node.func.value.id] if isinstance(node.func.value, ast.Name) else [])
        elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            launched.add(node.value.id)
    return frozenset(called), frozenset(launched)


asked_of_all("triton calls", _calls_in, ("(", "["))


def _handed_on(node: ast.FunctionDef) -> set[str]:
    """Names that code of the device gives to what it calls: those of functions are workers, or combine elements."""
    own = {argument.arg for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
    given: set[str] = set()
    for inner in walk(node):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
            own.add(inner.id)
        elif isinstance(inner, ast.Call):
            for argument in (*inner.args, *(keyword.value for keyword in inner.keywords)):
                given.update(_names_in(argument))
    return given - own


def _names_in(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, (ast.Tuple, ast.List)):
        for element in node.elts:
            yield from _names_in(element)

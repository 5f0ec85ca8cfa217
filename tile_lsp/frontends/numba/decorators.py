"""What a kernel's decorator says: whether it makes a kernel at all, and which signatures it compiles ahead of time."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tile_lsp.analysis.python import KernelSite, Workspace
from tile_lsp.frontends.names import Names

from . import spec

UFUNCS = frozenset({"numba.vectorize", "numba.guvectorize", "numba.cuda.vectorize", "numba.cuda.guvectorize"})
"""They make a kernel of a function of elements, where they do it for CUDA."""


def is_for_cuda(site: KernelSite, workspace: Workspace) -> bool:
    """True for `@vectorize([…], target="cuda")`, and for numba.cuda's own, which is for nothing else."""
    names = Names.of(workspace)
    for call in _calls(site, names):
        for keyword in call.keywords:
            if keyword.arg == "target":
                value = keyword.value
                known = names.constant(value, site.path) if not isinstance(value, ast.Constant) else None
                return (value.value if isinstance(value, ast.Constant) else known.value if known else None) == "cuda"
    return site.decorator_name.startswith("numba.cuda.")


def is_device(site: KernelSite, workspace: Workspace) -> bool:
    """True for `@cuda.jit(device=True)`: a helper, which can't be launched."""
    names = Names.of(workspace)
    for call in _calls(site, names):
        for keyword in call.keywords:
            if keyword.arg == "device":
                known = names.constant(keyword.value, site.path)
                value = (
                    keyword.value.value if isinstance(keyword.value, ast.Constant) else known.value if known else None
                )
                return bool(value)
    return False


def is_helper(site: KernelSite, workspace: Workspace) -> bool:
    """True for a function that returns something, which no kernel does, and that nobody asked to have as a kernel.

    Numba makes a device function of it where it is called.
    """
    if site.node is None or any("tile-lsp" in line.text for line in site.comment_lines):
        return False
    if not any(isinstance(node, ast.Return) and _is_value(node.value) for node in _own(site.node)):
        return False
    tree = Names.of(workspace).tree(site.path)
    launched = (node.value for node in ast.walk(tree) if isinstance(node, ast.Subscript)) if tree is not None else ()
    return not any(isinstance(node, ast.Name) and node.id == site.node.name for node in launched)


def _own(function: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function, those of functions in it left out."""
    for node in ast.iter_child_nodes(function):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            yield node
            yield from _own(node)


def _is_value(node: ast.expr | None) -> bool:
    return node is not None and not (isinstance(node, ast.Constant) and node.value is None)


def signatures(site: KernelSite, names: Names) -> tuple[tuple[str, ...], ...]:
    """Those given to the decorator, each as specs of the arguments; what can't be read is left out."""
    found: list[tuple[str, ...]] = []
    for call in _calls(site, names):
        if not call.args or names.dotted(call.func, site.path) == "functools.partial":
            continue
        node, _ = names.expression(call.args[0], site.path)
        for one in node.elts if isinstance(node, ast.List) else [node]:
            read = _signature(one, site.path, names)
            if read is not None and len(read) == len(site.parameters):
                found.append(read)
    return tuple(dict.fromkeys(found))


def _calls(site: KernelSite, names: Names) -> Iterator[ast.Call]:
    """The calls that a decorator is made of, through names and `functools.partial`."""
    node = site.decorator
    for _ in range(8):
        if node is None:
            return
        if not isinstance(node, ast.Call):
            target, _ = names.expression(node, site.path)
            if target is node or not isinstance(target, ast.Call):
                return
            node = target
        yield node
        node = node.func


def _signature(node: ast.expr, path: str, names: Names) -> tuple[str, ...] | None:
    """Of `"void(float32[:], int64)"`, `void(float32[:])`, `(float32[:], int64)`; None for anything else."""
    node, path = names.expression(node, path)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            node = ast.parse(node.value.strip(), mode="eval").body
        except SyntaxError:
            return None
    if isinstance(node, ast.Call):
        arguments = node.args
    elif isinstance(node, ast.Tuple):
        arguments = node.elts
    else:
        return None
    read = [_argument(argument, path, names) for argument in arguments]
    return tuple(text for text in read if text is not None) if None not in read else None


def _argument(node: ast.expr, path: str, names: Names) -> str | None:
    """A type of Numba's by its name, or a name of the module that stands for one."""
    read = spec.canonical(ast.unparse(node))
    if isinstance(read, str):
        return read
    target, _ = names.expression(node, path)
    read = spec.canonical(ast.unparse(target))
    if isinstance(read, str):
        return read
    return f"={ast.unparse(node)}" if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)) else None

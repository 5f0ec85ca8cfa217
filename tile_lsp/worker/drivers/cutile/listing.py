"""HIR and typed IR as text with the source of each line; the text itself holds no line numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from .places import Chain, Places
from .typetext import scrub

Line = tuple[str, Chain]


def artifact(stage: str, lines: Iterable[Line]) -> dict[str, Any]:
    """As the server's `Artifact`."""
    texts: list[str] = []
    chains: list[list[Chain]] = []
    for text, chain in lines:
        for part in text.split("\n"):
            texts.append(part)
            chains.append([chain] if chain else [])
    return {"stage": stage, "text": "\n".join(texts) + "\n" if texts else "", "lines": chains}


# -- high-level IR ---------------------------------------------------------------------------------------------------


def high_level(functions: Iterable[Any], hir: Any, stubs: Any, places: Places) -> Iterator[Line]:
    """Each function once, the kernel first."""
    printer = _HirPrinter(hir, stubs, places)
    for number, function in enumerate(functions):
        if number:
            yield "", []
        names = ", ".join(function.local_names[index] for index in function.param_local_indices)
        yield f"def {function.desc.name or '<lambda>'}({names}):", places.chain(function.body.loc)
        yield from printer.block(function.body, function, 1, header=False)


class _HirPrinter:
    def __init__(self, hir: Any, stubs: Any, places: Places) -> None:
        self._hir = hir
        self._identity = stubs.identity
        self._load = stubs.load_var
        self._store = stubs.store_var
        self._places = places

    def block(self, block: Any, function: Any, depth: int, *, header: bool = True) -> Iterator[Line]:
        indent = "    " * depth
        if header:
            parameters = ", ".join(str(value) for value in block.params)
            yield f"{indent}^{block.block_id}({parameters}):", self._places.chain(block.loc)
            indent += "    "
            depth += 1
        for call in block.calls:
            nested: list[Any] = []
            yield indent + self._call(call, function, nested), self._places.chain(call.loc)
            for inner in nested:
                yield from self.block(inner, function, depth + 1)
        if block.jump is not None:
            result = f" {self._operand(block.result, function, [])}" if block.have_result else ""
            yield f"{indent}{block.jump.value}{result}", self._places.chain(block.jump_loc)

    def _call(self, call: Any, function: Any, nested: list[Any]) -> str:
        target = "" if call.result is None else f"{call.result} = "
        if call.callee is self._identity:
            return target + self._operand(call.args[0], function, nested)
        # A load gives the name twice: where it is, and its text.
        given = call.args[:1] if call.callee is self._load else call.args
        arguments = [self._operand(argument, function, nested) for argument in given]
        if (call.callee is self._load or call.callee is self._store) and isinstance(given[0], str):
            arguments[0] = given[0]
        for name, value in call.kwargs:
            text = self._operand(value, function, nested)
            arguments.append(f"**{text}" if name is None else f"{name}={text}")
        return f"{target}{self._operand(call.callee, function, nested)}({', '.join(arguments)})"

    def _operand(self, operand: Any, function: Any, nested: list[Any]) -> str:
        hir = self._hir
        if isinstance(operand, hir.Value):
            return str(operand)
        if isinstance(operand, hir.Block):
            nested.append(operand)
            return f"^{operand.block_id}"
        if isinstance(operand, hir.ResolvedName):
            return _resolved(operand, function)
        if isinstance(operand, hir.Function):
            return f"<{operand.desc.name or 'lambda'}>"
        starred = getattr(hir, "Starred", None)
        if starred is not None and isinstance(operand, starred):
            return f"*{self._operand(operand.value, function, nested)}"
        if isinstance(operand, type(hir)) or callable(operand):
            return getattr(operand, "__name__", type(operand).__name__)
        if hasattr(operand, "compiled_expr"):
            return "<static expression>"
        return scrub(repr(operand))


def _resolved(name: Any, function: Any) -> str:
    if name.depth < 0:
        names = function.frozen_global_names
        return f"global {names[name.index]}" if 0 <= name.index < len(names) else "unknown"
    owners = (*function.enclosing_funcs, function)
    names = owners[name.depth].local_names if name.depth < len(owners) else ()
    return names[name.index] if name.index < len(names) else f"local {name.index}"


# -- typed IR --------------------------------------------------------------------------------------------------------


def typed(body: Any, places: Places, ir: Any) -> Iterator[Line]:
    """As cuda.tile prints its final IR."""
    yield f"({_variables(body.params, ir)}):", places.chain(body.loc)
    yield from _operations(body, 0, places, ir)


def _operations(block: Any, indent: int, places: Places, ir: Any) -> Iterator[Line]:
    blanks = " " * indent
    for operation in block:
        target = _variables(operation.result_vars, ir)
        text = f"{blanks}{f'{target} = ' if target else ''}{operation._to_string_rhs()}"
        chain = places.chain(operation.loc)
        prefixes = operation._to_string_block_prefixes()
        yield scrub(text), chain
        for prefix, nested in zip(prefixes, operation.nested_blocks, strict=True):
            parameters = f" ({_variables(nested.params, ir)})" if nested.params else ""
            if prefix:
                yield scrub(f"{blanks}{prefix}{parameters}"), places.chain(nested.loc)
            inner = _variables(nested.params, ir)
            yield f"{' ' * (indent + 4)}({inner}):", places.chain(nested.loc)
            yield from _operations(nested, indent + 4, places, ir)


def _variables(variables: Iterable[Any], ir: Any) -> str:
    return ", ".join(ir.format_var(variable) for variable in variables)

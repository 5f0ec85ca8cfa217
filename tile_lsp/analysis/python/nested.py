"""The statement that makes one kernel, lifted out of what it stands in.

A kernel in an `if`, `try`, `with` or loop is taken out of it. Around a kernel in a class stays a class with the
attributes that its definition needs. A kernel in a function stays in a function of the same parameters that holds
only what the kernel needs and returns it; which arguments it is called with is read from calls in the file, from
defaults, or from what a comment gives.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
from collections.abc import Iterator, Mapping, Sequence

from .parse import PythonFile
from .prune import cut_to_fixpoint, roots
from .scope import Function, Reads, bindings, local_names, parse_expression, reads
from .unparse import rebuilt, without_docstrings

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclasses.dataclass(frozen=True)
class Lifted:
    """One module-level statement that makes the kernel, and how to get at the kernel then."""

    statement: ast.stmt
    name: str
    """What the statement binds."""
    expression: str
    """`"matmul"`, `"Ops.scale"`, `"make(32)"`."""
    calls: tuple[str, ...] = ()
    """All calls of the function around it that were found, the one that was taken first."""
    kernel: ast.stmt | None = None
    """The kernel's own `def` within the statement."""

    @functools.cached_property
    def around(self) -> Reads:
        """What Python reads to make the kernel: by the expression, and by the statement less the kernel's body."""
        return reads([_expression(self.expression), _hollow(self.statement, self.kernel)])

    @functools.cached_property
    def access(self) -> Reads:
        """What the expression reads."""
        return reads([_expression(self.expression)])


@dataclasses.dataclass(frozen=True)
class Unbound:
    """The arguments of a function around the kernel are nowhere to be found."""

    function: Function
    parameters: tuple[str, ...]


def lift(
    file: PythonFile,
    nodes: Sequence[ast.AST],
    decorators: Sequence[int],
    bindings_given: Mapping[str, str],
    documents: bool,
) -> Lifted | Unbound:
    """Lifts `nodes[-1]`, the statement that makes the kernel, out of the others, which are those around it, outermost
    first.

    `decorators`: which of its decorators count, by index.
    """
    kernel = nodes[-1]
    assert isinstance(kernel, ast.stmt)
    current: ast.stmt | None = kernel
    access = ""
    if isinstance(kernel, ast.Return):
        access, current = ast.unparse(kernel.value) if kernel.value else "None", None
    elif isinstance(kernel, ast.Assign):
        assert isinstance(kernel.targets[0], ast.Name)
        access = kernel.targets[0].id
    else:
        assert isinstance(kernel, _FUNCTIONS)
        access = kernel.name
        kept = [node for index, node in enumerate(kernel.decorator_list) if index in decorators]
        if len(kept) != len(kernel.decorator_list):
            current = rebuilt(kernel, decorator_list=kept)
        if not documents:
            current = without_docstrings(current)
    innermost = current if isinstance(current, _FUNCTIONS) else None
    returned: ast.expr | None = kernel.value if isinstance(kernel, ast.Return) else None
    name = access
    calls: tuple[str, ...] = ()
    for depth in range(len(nodes) - 2, -1, -1):
        node = nodes[depth]
        if isinstance(node, ast.ClassDef):
            assert current is not None
            current = _class(node, current)
            name, access = node.name, f"{node.name}.{access}"
            returned = None
        elif isinstance(node, _FUNCTIONS):
            outer = next((n for n in reversed(nodes[:depth]) if isinstance(n, _FUNCTIONS)), None)
            method = depth > 0 and isinstance(_scope_above(nodes, depth), ast.ClassDef)
            current = _function(node, current, returned or _expression(access), documents)
            found = _arguments(file, node, current, outer, method, bindings_given)
            if isinstance(found, Unbound):
                return found
            name = node.name
            if found and outer is None:
                calls = tuple(f"{name}({text})" for text in found)
            access, returned = f"{name}({found[0]})", None
    assert current is not None
    return Lifted(current, name, access, calls, innermost)


def _hollow(node: ast.stmt, kernel: ast.stmt | None) -> ast.stmt:
    if node is kernel:
        return rebuilt(node, body=[ast.Pass()])
    if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
        return rebuilt(node, body=[_hollow(child, kernel) for child in node.body])
    return node


def _scope_above(nodes: Sequence[ast.AST], depth: int) -> ast.AST | None:
    return next((n for n in reversed(nodes[:depth]) if isinstance(n, (*_FUNCTIONS, ast.ClassDef))), None)


def _expression(text: str) -> ast.expr:
    """A node without a position, so that it stands for nothing in the source."""
    node = ast.parse(text, mode="eval").body
    for inner in ast.walk(node):
        for attribute in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
            if hasattr(inner, attribute):
                delattr(inner, attribute)
    return node


def _class(node: ast.ClassDef, current: ast.stmt) -> ast.stmt:
    bound = bindings(node.body)
    own = set(bindings([current]).names)
    start = roots(reads([current]), immediate=True) - own
    kept, _ = cut_to_fixpoint(node.body, start, set(bound.names) - own, bound.plain, immediate=True)
    return rebuilt(node, bases=[], keywords=[], decorator_list=[], body=[*kept, current])


def _function(node: Function, current: ast.stmt | None, returned: ast.expr, documents: bool) -> ast.stmt:
    bound = bindings(node.body)
    statements: list[ast.AST] = [returned] if current is None else [current, returned]
    own = set(bindings([current]).names) if current is not None else set()
    kept, _ = cut_to_fixpoint(
        node.body, roots(reads(statements)) - own, set(bound.names) - own, bound.plain, immediate=False
    )
    body = [*kept, *([current] if current is not None else []), ast.Return(returned)]
    arguments = rebuilt_arguments(node.args)
    fields = {"type_params": []} if hasattr(node, "type_params") else {}
    return ast.copy_location(
        ast.FunctionDef(node.name, arguments, body, [], None, None, **fields),  # type: ignore[arg-type]
        node,
    )


def rebuilt_arguments(arguments: ast.arguments) -> ast.arguments:
    """Parameters without annotations, which say nothing about the kernel."""

    def bare(argument: ast.arg | None) -> ast.arg | None:
        return argument if argument is None or argument.annotation is None else rebuilt(argument, annotation=None)

    return ast.arguments(
        posonlyargs=[bare(a) for a in arguments.posonlyargs],
        args=[bare(a) for a in arguments.args],
        vararg=bare(arguments.vararg),
        kwonlyargs=[bare(a) for a in arguments.kwonlyargs],
        kw_defaults=list(arguments.kw_defaults),
        kwarg=bare(arguments.kwarg),
        defaults=list(arguments.defaults),
    )


def _arguments(
    file: PythonFile,
    node: Function,
    reduced: ast.stmt,
    outer: Function | None,
    method: bool,
    given: Mapping[str, str],
) -> Sequence[str] | Unbound:
    """Texts between the brackets of calls of a function, the one to take first.

    What the reduced function doesn't read is given as `None`.
    """
    positional = [argument.arg for argument in [*node.args.posonlyargs, *node.args.args]]
    keyword_only = [argument.arg for argument in node.args.kwonlyargs]
    used = roots(reads(reduced.body))  # type: ignore[attr-defined]
    receiver = positional.pop(0) if method and positional and not _is_static(node) else None
    if receiver in used and receiver not in given:
        return Unbound(node, (receiver,))  # type: ignore[arg-type]
    lead = [given.get(receiver, "None")] if receiver is not None else []
    names = [*positional, *keyword_only]
    wanted = {name: given[name] for name in names if name in given and parse_expression(given[name]) is not None}
    calls = _calls(file, node, method, used) if outer is None else _inner_calls(outer, node, used)
    if not wanted and calls:
        return list(dict.fromkeys(", ".join([*lead, *call.texts]) for call in calls))
    # Put together from what the comment gives, the first call, and defaults.
    known = (calls[0].by_name if calls else {}) | wanted
    optional = set(positional[len(positional) - len(node.args.defaults) :] if node.args.defaults else ())
    for argument, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True):
        if default is not None:
            optional.add(argument.arg)
    positional_only = {argument.arg for argument in node.args.posonlyargs}
    texts, lacking, skipped = list(lead), [], False
    for name in names:
        text = known.get(name)
        if text is None:
            if name in optional:
                skipped = True
                continue
            if name in used:
                lacking.append(name)
            text = "None"
        texts.append(text if name in positional_only and not skipped else f"{name}={text}")
    return Unbound(node, tuple(lacking)) if lacking else [", ".join(texts)]


def _is_static(node: Function) -> bool:
    return any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in node.decorator_list)


@dataclasses.dataclass(frozen=True)
class _Call:
    """The arguments of one call, those that aren't used replaced by `None`."""

    texts: tuple[str, ...]
    by_name: dict[str, str]
    """As far as they can be told without stars."""
    needed: frozenset[str]
    """Names that the arguments read."""


def _call(call: ast.Call, names: Sequence[str], used: frozenset[str]) -> _Call:
    texts: list[str] = []
    by_name: dict[str, str] = {}
    nodes: list[ast.expr] = []
    starred = False
    for index, argument in enumerate(call.args):
        name = names[index] if index < len(names) and not starred else None
        starred = starred or isinstance(argument, ast.Starred)
        if name is not None and not starred and name not in used:
            texts.append("None")
            continue
        texts.append(ast.unparse(argument))
        nodes.append(argument)
        if name is not None and not starred:
            by_name[name] = texts[-1]
    for keyword in call.keywords:
        if keyword.arg in names and keyword.arg not in used:
            texts.append(f"{keyword.arg}=None")
            continue
        text = ast.unparse(keyword.value)
        texts.append(f"{keyword.arg}={text}" if keyword.arg else f"**{text}")
        nodes.append(keyword.value)
        if keyword.arg:
            by_name[keyword.arg] = text
    return _Call(tuple(texts), by_name, roots(reads(nodes)))


def _parameter_order(node: Function, method: bool) -> list[str]:
    """Names in the order of positional arguments, then those that only go by name."""
    names = [argument.arg for argument in [*node.args.posonlyargs, *node.args.args]]
    if method and names and not _is_static(node):
        names = names[1:]
    return names + [argument.arg for argument in node.args.kwonlyargs]


def _calls(file: PythonFile, function: Function, method: bool, used: frozenset[str]) -> list[_Call]:
    """Calls of a module-level function (or of a method of that name) whose arguments can be evaluated at module level.

    Module-level assignments (`k32 = make(32)`) come first, then all others in the order of the text, then the first
    values that a test is parametrized with.
    """
    names = _parameter_order(function, method)
    assigned: list[_Call] = []
    others: list[_Call] = []
    for placed in file.statements:
        if function.name not in placed.statement.chunk.text:
            continue
        node = placed.statement.node
        for call, hidden in _calls_in(node, function.name, method, frozenset()):
            found = _call(call, names, used)
            if not found.needed & hidden:
                at_top = isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is call
                (assigned if at_top else others).append(found)
    found = [*assigned, *others]
    if not found and (parametrized := _parametrized(function)):
        by_name = {name: parametrized.get(name) if name in used else "None" for name in names}
        if all(text is not None for text in by_name.values()):
            texts = tuple(f"{name}={text}" for name, text in by_name.items())
            found.append(_Call(texts, {name: text for name, text in by_name.items() if text}, frozenset()))
    return found


def _parametrized(function: Function) -> dict[str, str]:
    """First values of `@pytest.mark.parametrize("a, b", [(1, 2), …])` by parameter."""
    values: dict[str, str] = {}
    for decorator in function.decorator_list:
        if not (isinstance(decorator, ast.Call) and isinstance(decorator.func, ast.Attribute)):
            continue
        if decorator.func.attr != "parametrize" or len(decorator.args) < 2:
            continue
        head, rows = decorator.args[:2]
        names = _words(head)
        if not names:
            continue
        if isinstance(rows, (ast.List, ast.Tuple)):
            if not rows.elts or isinstance(rows.elts[0], ast.Starred):
                continue
            first = rows.elts[0]
            if isinstance(first, ast.Call) and isinstance(first.func, ast.Attribute) and first.func.attr == "param":
                cells = list(first.args)
            elif len(names) == 1:
                cells = [first]
            else:
                cells = list(first.elts) if isinstance(first, (ast.Tuple, ast.List)) else []
            values.update(zip(names, map(ast.unparse, cells), strict=False))
        elif len(names) == 1:
            values[names[0]] = f"next(iter({ast.unparse(rows)}))"
    return values


def _words(node: ast.expr) -> list[str]:
    """The names in `"a, b"` or `["a", "b"]`."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [name.strip() for name in node.value.split(",") if name.strip()]
    if isinstance(node, (ast.List, ast.Tuple)):
        return [element.value for element in node.elts if isinstance(element, ast.Constant)]
    return []


def _inner_calls(outer: Function, function: Function, used: frozenset[str]) -> list[_Call]:
    """Calls of a function inside another, by that one's own code."""
    names = _parameter_order(function, method=False)
    inside = local_names(outer)
    found: list[_Call] = []
    for statement in outer.body:
        for call, hidden in _calls_in(statement, function.name, False, frozenset()):
            one = _call(call, names, used)
            if not one.needed & (hidden - inside):
                found.append(one)
    return found


def _calls_in(
    node: ast.AST, name: str, method: bool, hidden: frozenset[str]
) -> Iterator[tuple[ast.Call, frozenset[str]]]:
    """Calls of a function, each with the names that scopes around it hide."""
    if isinstance(node, ast.Call):
        function = node.func
        if isinstance(function, ast.Name) and function.id == name and not method:
            if name not in hidden:
                yield node, hidden
        elif method and isinstance(function, ast.Attribute) and function.attr == name:
            yield node, hidden
    if isinstance(node, (*_FUNCTIONS, ast.Lambda)):
        hidden |= local_names(node)
    elif isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
        hidden |= frozenset(bindings([generator.target for generator in node.generators]).names)
    for child in ast.iter_child_nodes(node):
        yield from _calls_in(child, name, method, hidden)

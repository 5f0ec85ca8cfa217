"""Further readings of a kernel's arguments, worked out from the fault that the last one ended in.

A fault says where it is. From there the text is read backwards, through helpers and local names, to the parameters
that what is there is made from: other values of those are tried, the nearest first, one at a time or, where it is
dtypes that don't fit, those of one kind together.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from tile_lsp.model.closure import Closure
from tile_lsp.model.location import Place
from tile_lsp.model.outcome import Fault

from . import spec
from .assume import Parameter
from .use import Usage, Use

#: Faults of the text alone: no argument mends them.
_OF_TEXT = re.compile(
    r"ptxas|have been removed|has been removed|is gone from|is not there|unexpected keyword|recursion|"
    r"missing \d+ required|missing a required|takes \d+ positional|too many positional|Cannot access global|"
    r"(module '[\w.]+'|'builder' object) has no attribute|[Uu]nsupported (statement|AST|language|syntax)|"
    r"cannot import name|JIT functions do not|not supported on .target|must be of type tl.constexpr|is not a constexpr"
)
_DTYPE = re.compile(
    r"\b(?:fp(?:8e4nv|8e5|8e4b15|8e4b8|8e5b16|16|32|64)|bf16|u?int\d+|float\d+|bfloat16|i(?:8|16|32|64)|u8)\b"
)
_ELEMENTS = ("fp16", "fp32", "bf16", "i32", "u8", "i8", "i64", "fp8e4nv", "i1")
_NUMBERS = ("i32:16", "fp32", "1", "i64")
_OBJECTS = ("fp16", "fp32", "bf16", "i32", "i8", "fp8e4nv")
_DIMS = re.compile(r"\[[\d,]+\]")
_NUMBER = re.compile(r"\b\d+\b")
_SHAPE = re.compile(r"\[(?:[^\[\]]|\[\d+\])*\]")
_ELEMENT = re.compile(r"tensordesc<\w+")
_WORD = re.compile(r"\b[A-Za-z_]\w*\b")
_SHORTEST = 16
_FRACTION = re.compile(r"-?\d*\.\d+(e-?\d+)?")
#: What is no pointer has to be one.
_POINTS = re.compile(r"ptr type|pointer<|pointer type|cannot cast pointer")
#: What is one number has to be several.
_ITEMS = re.compile(r"\blen(gths?)?\b|subscript|iterable|tuple|tensor index", re.IGNORECASE)
_MANY = re.compile(r"(strides|shape|sizes|dims)$", re.IGNORECASE)
#: As MLIR says what it wants.
_SIGNLESS = re.compile(r"(\d+)-bit signless integer")
_LONGEST = 1 << 16
_LENGTHS = (16, 32, 64, 128, 8, 4, 2, 1)
#: How far what a place is made of is followed back.
_DEEPEST = 12
#: Parameters that are worth a try each.
_MOST = 8


def mended(
    parameters: Sequence[Parameter], usage: Usage, closure: Closure, specs: Sequence[str], fault: Fault
) -> Iterator[tuple[str, ...]]:
    """Specs to try in place of those that ended in the fault, the most likely first."""
    if _OF_TEXT.search(fault.message):
        return
    free = {p.name: text for p, text in zip(parameters, specs, strict=True) if p.given is None and p.default is None}
    if fault.code == "resources":
        yield from _smaller(parameters, usage, specs)
        return
    near = [name for name in _sources(closure, fault, [p.name for p in parameters]) if name in free][:_MOST]
    by_name = {parameter.name: parameter for parameter in parameters}
    known = dict(zip(by_name, specs, strict=True))
    for change in _changes(by_name, usage, free, near, known, fault.message):
        made = {**known, **change}
        made |= {name: _as_long(made[name], usage.of(name), made) for name in free if name not in change}
        yield tuple(made.values())


def _as_long(text: str, use: Use, made: Mapping[str, str]) -> str:
    """A descriptor's block is as long as what it is brought to says."""
    if not use.block or not text.startswith("tensordesc<"):
        return text
    lengths = [made.get(length, length) for length in use.block]
    return _DIMS.sub(f"[{','.join(lengths)}]", text, count=1) if all(map(str.isdecimal, lengths)) else text


def _smaller(parameters: Sequence[Parameter], usage: Usage, specs: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Shorter elements, and shorter blocks."""
    for half, divisor in ((True, 1), (False, 2), (True, 2), (False, 4), (True, 4)):
        made = []
        for parameter, text in zip(parameters, specs, strict=True):
            free = parameter.given is None and parameter.default is None
            if free and half and text == _pointer("fp32"):
                text = _pointer("fp16")
            elif free and text.isdecimal() and int(text) > _SHORTEST and usage.of(parameter.name).size:
                text = str(max(_SHORTEST, int(text) // divisor))
            made.append(text)
        yield tuple(made)


def _named(message: str) -> tuple[str, ...]:
    """Dtypes that a message names, as specs write them."""
    words = (*(f"i{bits}" for bits in _SIGNLESS.findall(message)), *_DTYPE.findall(message))
    found = map(spec.dtype, words)
    return tuple(dict.fromkeys(name for name in found if name is not None))


def _changes(
    parameters: Mapping[str, Parameter], usage: Usage, free: Mapping[str, str], near: Sequence[str],
    known: Mapping[str, str], message: str,
) -> Iterator[dict[str, str]]:  # fmt: skip
    named = _named(message)
    pointers = [name for name in near if free[name].startswith("*")]
    for element in named:
        # What doesn't fit is one kind of data, mostly, and all of that kind has one dtype.
        kinds = [free[name] for name in pointers] + sorted(text for text in free.values() if text.startswith("*"))
        for kind in dict.fromkeys(kind for kind in kinds if kind != _pointer(element)):
            yield {name: _pointer(element) for name, text in free.items() if text == kind}
            yield {name: _pointer(element) for name in pointers if free[name] == kind}
    lengths = sorted({int(text) for text in known.values() if text.isdecimal() and int(text)})
    numbers = [int(number) for number in _NUMBER.findall(message)]
    pointing = _POINTS.search(message) is not None
    choices = {name: _choices(parameters[name], usage, free[name], lengths, named, numbers, pointing) for name in near}
    if _ITEMS.search(message):
        for count in (2, 3, 4, 1):
            longer = {n: _repeated(text, count) for n, text in free.items() if text.startswith("(")}
            yield from (longer, *({name: longer[name]} for name in near if name in longer))
        tuples = ("(1,)", "(64,1)", "(64,64,1)", "(64,64,64,1)")
        numeric = [name for name in near if parameters[name].constexpr and free[name].isdecimal()]
        near = sorted(near, key=lambda name: _MANY.search(name) is None)
        choices |= {name: (*tuples, *choices[name]) for name in numeric}
    shapes = [",".join(_NUMBER.findall(shape)) for shape in _SHAPE.findall(message)]
    for name in near:
        if free[name].startswith("tensordesc<"):
            fitting = (_DIMS.sub(f"[{shape}]", free[name], count=1) for shape in shapes)
            others = (_ELEMENT.sub(f"tensordesc<{element}", free[name]) for element in (*named, *_ELEMENTS[:3]))
            choices[name] = dict.fromkeys((*fitting, *others))
    if shapes:
        near = sorted(near, key=lambda name: not free[name].startswith("tensordesc<"))
    if named:
        # What is a dtype, and what has one.
        near = sorted(near, key=lambda name: (spec.dtype(free[name]) is None, not free[name].startswith("*")))
    for name in near:
        for text in choices[name]:
            if text != free[name]:
                yield {name: text}


def _choices(
    parameter: Parameter, usage: Usage, text: str, lengths: Sequence[int], named: Sequence[str], numbers: Sequence[int],
    pointing: bool,
) -> Iterable[str]:  # fmt: skip
    use = usage.of(parameter.name)
    if text.startswith("*"):
        return [_pointer(element) for element in dict.fromkeys((*named, *_ELEMENTS))]
    if not parameter.constexpr:
        if pointing:
            return [_pointer(element) for element in dict.fromkeys((*named, *_ELEMENTS[:4]))]
        return _NUMBERS if spec.dtype(text.partition(":")[0]) or text == "1" else ()
    if text in ("True", "False"):
        return ("False" if text == "True" else "True",)
    if text[0] in "'\"":
        return [repr(word) for word in use.texts]
    if spec.dtype(text) is not None:
        return dict.fromkeys((*named, *_OBJECTS))
    if _FRACTION.fullmatch(text):
        return ("1", "16", "0")
    if text.isdecimal():
        made = [str(n) for n in dict.fromkeys(_fitting(int(text), lengths, numbers, use.numbers)) if 0 < n <= _LONGEST]
        return [*made, "None"] if use.none else made
    return ()


def _fitting(value: int, lengths: Sequence[int], numbers: Sequence[int], compared: Sequence[int]) -> Iterator[int]:
    """Numbers to try in place of one: a length fits another one, or is a usual one."""
    for first in numbers:
        # Of two lengths that don't fit, one grows to the other.
        yield from (value * first // second for second in numbers if second and value * first % second == 0)
    yield from compared
    yield from (value // 2, value * 2)
    yield from lengths
    yield from _LENGTHS
    yield from (long // short for long in lengths for short in lengths if short > 1 and long % short == 0)


def _repeated(text: str, count: int) -> str:
    """A tuple of so many of the first item of one."""
    item = text.strip("()").partition(",")[0]
    return f"({','.join([item] * count)}{',' if count == 1 else ''})"


def _pointer(element: str) -> str:
    return f"*{element}:16"


def _sources(closure: Closure, fault: Fault, parameters: Sequence[str]) -> list[str]:
    """Parameters of the kernel that a fault's place is made from, the nearest first; all where there is no place."""
    if not fault.chain:
        return list(parameters)
    texts = {member.id: member.text for module in closure.modules for member in module.members}
    wanted: list[str] = []
    called: ast.FunctionDef | None = None
    for place in fault.chain:
        function = _function_at(texts.get(place.member, ""), place)
        if function is None:
            return list(parameters)
        names = _names_at(function, place, called, wanted)
        if called is None:
            # What a message quotes: a variable that a loop carries.
            names = [*_WORD.findall(fault.message), *names]
        wanted = _reached(function, names)
        called = function
    if called is None or called.name != closure.entry.qualname.rpartition(".")[2]:
        # MLIR leaves out where a helper was called.
        return list(parameters)
    return [name for name in wanted if name in parameters]


def _function_at(text: str, place: Place) -> ast.FunctionDef | None:
    """The innermost function around a place."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return None
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.lineno <= place.line <= (node.end_lineno or node.lineno)
    ]
    return max(around, key=lambda node: node.lineno, default=None)


def _names_at(
    function: ast.FunctionDef, place: Place, called: ast.FunctionDef | None, wanted: Sequence[str]
) -> list[str]:
    """What is read at a place: by a call of a helper, what it gives to those of the helper's parameters."""
    node = _statement_at(function, place)
    if node is None:
        return []
    if called is None:
        return _names(_range_at(node, place))
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and ast.unparse(call.func).rpartition(".")[2] == called.name:
            given = dict(zip(_parameters(called), call.args, strict=False))
            given |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
            return [name for parameter in wanted if parameter in given for name in _names(given[parameter])]
    return _names(node)


def _statement_at(function: ast.FunctionDef, place: Place) -> ast.AST | None:
    """The innermost statement that covers a line; of one that holds others, what stands before them."""
    found: ast.AST | None = None
    for node in ast.walk(function):
        if isinstance(node, ast.stmt) and node is not function and node.lineno <= place.line <= (node.end_lineno or 0):
            found = node
    match found:
        case ast.If(test=test) | ast.While(test=test):
            return test
        case ast.For(iter=iterated):
            return iterated
    return found


def _range_at(node: ast.AST, place: Place) -> ast.AST:
    """The smallest expression that a place's range is."""
    if place.end_column < 0:
        return node
    wanted = (place.line, place.column, place.end_line, place.end_column)
    for inner in ast.walk(node):
        if isinstance(inner, ast.expr):
            here = (inner.lineno, inner.col_offset, inner.end_lineno, inner.end_col_offset)
            if here == wanted:
                return inner
    return node


def _names(node: ast.AST) -> list[str]:
    return [inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)]


def _reached(function: ast.FunctionDef, names: Sequence[str]) -> list[str]:
    """The function's own parameters that names are computed from, the nearest first."""
    made: dict[str, list[str]] = {}
    _read_made(function.body, [], made)
    seen = dict.fromkeys(names)
    front = list(seen)
    for _ in range(_DEEPEST):
        front = [name for name in dict.fromkeys(n for f in front for n in made.get(f, ())) if name not in seen]
        if not front:
            break
        seen.update(dict.fromkeys(front))
    parameters = _parameters(function)
    return [name for name in seen if name in parameters]


def _read_made(body: Sequence[ast.stmt], tests: list[str], into: dict[str, list[str]]) -> None:
    """Local name → what its values are made of, and what decides whether it has them: names in `tests`."""
    for statement in body:
        match statement:
            case ast.Assign(value=value) | ast.AugAssign(value=value) | ast.For(iter=value):
                targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
                for name in (name for target in targets for name in _names(target)):
                    into.setdefault(name, []).extend((*_names(value), *tests))
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                into.setdefault(name, []).extend((*_names(value), *tests))
        inner = [*tests, *_names(statement.test)] if isinstance(statement, (ast.If, ast.While)) else tests
        for block in ("body", "orelse"):
            _read_made(getattr(statement, block, ()), inner, into)


def _parameters(function: ast.FunctionDef) -> list[str]:
    arguments = function.args
    return [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]

"""What a kernel's parameter annotations say: `ct.Constant[int]`, `ct.IndexedWithInt64`, `float`, through aliases."""

from __future__ import annotations

import ast

import msgspec

from tile_lsp.frontends.dtypes import canonical
from tile_lsp.frontends.names import Names

_TYPES = {"int": "int", "float": "float", "bool": "bool", "str": "str"}
_ARRAYS = frozenset({"Array", "Tensor", "ndarray"})
_MAX_DEPTH = 16


class Annotation(msgspec.Struct, frozen=True):
    """One parameter's annotation, as far as it is understood."""

    kind: str = ""
    """`constant`, `array`, `list`, `scalar`, `tuple`, or empty where it says nothing."""
    type: str | None = None
    """`int`, `float`, `bool` or `str`, of constants and scalars."""
    dtype: str | None = None
    """Short name, of scalars whose width is given."""
    index: str | None = None
    """`i64` where an array is indexed with that."""
    static_shape: tuple[int, ...] = ()
    """Axes whose lengths the compiler has to know."""
    static_strides: tuple[int, ...] = ()
    items: tuple[Annotation, ...] = ()
    """Of tuples; one with `repeated` stands for any number."""
    repeated: bool = False
    text: str = ""
    """As it is written, for people."""

    def item(self, position: int | str) -> Annotation:
        """Of one item of a tuple, or of any element of a list."""
        if not self.items:
            return Annotation("constant") if self.kind == "constant" else Annotation()
        last = self.items[-1]
        return self.items[position] if isinstance(position, int) and 0 <= position < len(self.items) else last


def read_annotation(node: ast.expr | None, path: str, names: Names) -> Annotation:
    """The annotation of a parameter of a function in the file `path`. Never raises."""
    if node is None:
        return Annotation()
    found = _Reader(names).read(node, path, 0)
    return msgspec.structs.replace(found, text=ast.unparse(node))


class _Reader:
    def __init__(self, names: Names) -> None:
        self.names = names

    def read(self, node: ast.expr, path: str, depth: int) -> Annotation:
        if depth > _MAX_DEPTH:
            return Annotation()
        node, path = self.names.expression(node, path)
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            try:
                return self.read(ast.parse(node.value.strip(), mode="eval").body, path, depth + 1)
            except SyntaxError:
                return Annotation()
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            left = self.read(node.left, path, depth + 1)
            return left if left.kind else self.read(node.right, path, depth + 1)
        if isinstance(node, ast.Subscript):
            return self.subscript(node, path, depth)
        if isinstance(node, ast.Name) and node.id in _TYPES:
            return Annotation("scalar", _TYPES[node.id])
        return self.named(self.last(node, path))

    def last(self, node: ast.expr, path: str) -> str:
        """The last part of the dotted name that a node stands for."""
        dotted = self.names.dotted(node, path)
        if dotted is None:
            dotted = ast.unparse(node) if isinstance(node, (ast.Name, ast.Attribute)) else ""
        return dotted.rpartition(".")[2]

    def named(self, name: str) -> Annotation:
        match name:
            case "Constant" | "ConstantAnnotation":
                return Annotation("constant")
            case "IndexedWithInt64":
                return Annotation("array", index="i64")
            case "ScalarInt64":
                return Annotation("scalar", "int", dtype="i64")
            case "List" | "list":
                return Annotation("list")
            case _ if name in _ARRAYS:
                return Annotation("array")
            case _ if name in _TYPES:
                return Annotation("scalar", _TYPES[name])
            case _:
                return Annotation()

    def subscript(self, node: ast.Subscript, path: str, depth: int) -> Annotation:
        head = self.last(node.value, path)
        arguments = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
        first = self.read(arguments[0], path, depth + 1) if arguments else Annotation()
        match head:
            case "Constant":
                return _constant(first)
            case "IndexedWithInt64":
                return Annotation("array", index="i64")
            case "ScalarInt64":
                return Annotation("scalar", "int", dtype="i64")
            case "Annotated":
                for metadata in arguments[1:]:
                    first = self.metadata(metadata, path, first, depth)
                return first
            case "tuple" | "Tuple":
                repeated = len(arguments) == 2 and isinstance(arguments[1], ast.Constant) and arguments[1].value is ...
                kept = arguments[:1] if repeated else arguments
                items = tuple(self.read(item, path, depth + 1) for item in kept)
                return Annotation("tuple", items=items, repeated=repeated)
            case "list" | "List" | "Sequence":
                return Annotation("list", items=(first,))
            case "Optional" | "Union" | "Final" | "ClassVar":
                return first
            case "Literal":
                value = arguments[0].value if arguments and isinstance(arguments[0], ast.Constant) else None
                return Annotation("scalar", type(value).__name__ if type(value).__name__ in _TYPES else None)
            case _:
                return self.named(head)

    def metadata(self, node: ast.expr, path: str, inner: Annotation, depth: int) -> Annotation:
        node, path = self.names.expression(node, path)
        call = node if isinstance(node, ast.Call) else None
        head = self.last(call.func if call is not None else node, path)
        keywords = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg} if call is not None else {}
        match head:
            case "ConstantAnnotation":
                return _constant(inner)
            case "ArrayAnnotation":
                return Annotation(
                    "array",
                    index=self.dtype(keywords.get("index_dtype"), path),
                    static_shape=self.axes(keywords.get("static_shape_dims"), path),
                    static_strides=self.axes(keywords.get("static_stride_dims"), path),
                )
            case "ScalarAnnotation":
                return Annotation("scalar", "int", dtype=self.dtype(keywords.get("dtype"), path))
            case "ListAnnotation":
                element = keywords.get("element")
                if element is None and call is not None and call.args:
                    element = call.args[0]
                if element is None:
                    return Annotation("list")
                direct = self.metadata(element, path, Annotation(), depth + 1)
                return Annotation("list", items=(direct if direct.kind else self.read(element, path, depth + 1),))
            case _:
                return inner

    def dtype(self, node: ast.expr | None, path: str) -> str | None:
        if node is None:
            return None
        found = canonical(self.last(node, path))
        return found if found != "i32" else None

    def axes(self, node: ast.expr | None, path: str) -> tuple[int, ...]:
        known = self.names.constant(node, path) if node is not None else None
        value = known.value if known is not None else None
        return tuple(axis for axis in value if isinstance(axis, int)) if isinstance(value, tuple) else ()


def _constant(inner: Annotation) -> Annotation:
    """The same made constant; of a tuple, each of its items."""
    if inner.kind == "tuple":
        return msgspec.structs.replace(inner, items=tuple(map(_constant, inner.items)))
    return Annotation("constant", inner.type)

"""What a kernel's body tells of its parameters: which are arrays, of how many axes, and what counts or indexes."""

from __future__ import annotations

import ast

import msgspec

from tile_lsp.frontends.names import Names, chain

_ARRAY_ATTRIBUTES = frozenset({"shape", "size", "ndim", "strides", "dtype", "T", "flat", "nbytes", "itemsize"})
_ATOMICS = "numba.cuda.atomic."
_GRIDS = frozenset({"numba.cuda.grid", "numba.cuda.gridsize"})
_BITS = (ast.BitAnd, ast.BitOr, ast.BitXor, ast.LShift, ast.RShift)
_DEEPEST = 4


class Use(msgspec.Struct):
    """How a parameter is used."""

    rank: int | None = None
    """The most axes seen."""
    why: str = ""
    """Of an array, or of an integer: for people."""
    array: bool = False
    integer: bool = False
    """Of a scalar."""
    integral: bool = False
    """An array's elements index, or are taken bit by bit."""
    element: str = ""
    """An array's, where a function that takes it says so."""


def read_usage(node: ast.FunctionDef, path: str, names: Names) -> dict[str, Use]:
    """By parameter. Functions of the workspace that a parameter is passed on to are looked into."""
    return _Reader(node, path, names, 0).read()


def dotted(node: ast.expr, path: str, names: Names) -> str | None:
    """What a name stands for outside of the workspace; imports in functions are looked through too."""
    found = names.dotted(node, path)
    if found is not None:
        # Its successor has the same names.
        return found.replace("numba_cuda_mlir.", "numba.", 1) if found.startswith("numba_cuda_mlir.") else found
    parts = chain(node)
    inner = names.cached(("imports", path), lambda: _imports(names.tree(path)))
    if parts is None or parts[0] not in inner:
        return None
    return ".".join((inner[parts[0]], *parts[1:]))


def _imports(tree: ast.Module | None) -> dict[str, str]:
    found: dict[str, str] = {}
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.update({alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names})
        elif isinstance(node, ast.Import):
            found.update({alias.asname: alias.name for alias in node.names if alias.asname})
    return found


class _Reader:
    def __init__(self, node: ast.FunctionDef, path: str, names: Names, depth: int) -> None:
        self.node = node
        self.path = path
        self.names = names
        self.depth = depth
        arguments = node.args
        self.uses = {a.arg: Use() for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
        self.tuples: dict[str, int] = {}
        """Local names that stand for several indices."""
        self.elements: dict[str, str] = {}
        """Local names that stand for an element of a parameter."""
        self.copies: dict[str, str] = {}
        """Local names for a parameter itself."""

    def read(self) -> dict[str, Use]:
        for statement in ast.walk(self.node):
            if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
                self.assign(statement.targets[0], statement.value)
        for inner in ast.walk(self.node):
            self.expression(inner)
        return self.uses

    def assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Tuple):
            if isinstance(value, ast.Attribute) and value.attr == "shape":
                self.array(value.value, len(target.elts), "its shape is taken apart")
            elif isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts):
                for one, other in zip(target.elts, value.elts, strict=True):
                    self.assign(one, other)
            return
        if not isinstance(target, ast.Name):
            return
        if isinstance(value, ast.Tuple):
            self.tuples[target.id] = len(value.elts)
        elif isinstance(value, ast.Call) and dotted(value.func, self.path, self.names) in _GRIDS:
            first = value.args[0] if value.args else None
            if isinstance(first, ast.Constant) and isinstance(first.value, int) and first.value > 1:
                self.tuples[target.id] = first.value
        elif isinstance(value, ast.Name) and value.id in self.uses:
            self.copies[target.id] = value.id
        elif (owner := self.element_of(value)) is not None:
            self.elements[target.id] = owner

    def expression(self, node: ast.AST) -> None:
        match node:
            case ast.Subscript(value=owner, slice=index):
                depth = 1
                while isinstance(owner, ast.Subscript):
                    owner, depth = owner.value, depth + self.indices(owner.slice)
                self.array(owner, depth - 1 + self.indices(index), "it is indexed")
                self.index(index)
            case ast.Attribute(value=owner, attr=attr) if attr in _ARRAY_ATTRIBUTES:
                self.array(owner, None, f"its {attr} is read")
            case ast.Call(func=function, args=arguments):
                self.call(function, arguments)
            case ast.Expr(value=ast.Call(func=function, args=arguments)) if self.is_ufunc(function):
                for argument in arguments:
                    self.array(argument, 1, "an array function works on it in place")
            case ast.For(iter=iterable):
                self.array(iterable, 1, "it is iterated over")
            case ast.BinOp(left=left, op=op, right=right):
                for operand in (left, right):
                    if isinstance(op, _BITS):
                        self.integral(operand)
                        self.counts(operand)
                    elif isinstance(op, ast.FloorDiv):
                        self.counts(operand)
            case ast.Compare(left=left, comparators=[right]):
                self.compared(left, right)
                self.compared(right, left)

    def is_ufunc(self, function: ast.expr) -> bool:
        return (dotted(function, self.path, self.names) or "").startswith("numpy.")

    def call(self, function: ast.expr, arguments: list[ast.expr]) -> None:
        name = dotted(function, self.path, self.names) or ""
        if name == "builtins.len" and arguments:
            self.array(arguments[0], None, "its length is taken")
        elif name == "builtins.range":
            for argument in arguments:
                for inner in ast.walk(argument):
                    self.counts(inner)
        elif name.startswith(_ATOMICS) and len(arguments) >= 2:
            self.array(arguments[0], self.indices(arguments[1]), f"an operand of {name.removeprefix('numba.')}")
            self.index(arguments[1])
        elif name.startswith("numba.cuda.random.xoroshiro128p") and arguments:
            self.array(arguments[0], 1, "states of random numbers")
            if (owner := self.owner(arguments[0])) is not None:
                self.uses[owner].element = "xoroshiro128p"
        elif not name:
            self.passed(function, arguments)

    def passed(self, function: ast.expr, arguments: list[ast.expr]) -> None:
        found = self.names.function(function, self.path)
        if found is None or not isinstance(found[0], ast.FunctionDef) or self.depth >= _DEEPEST:
            return
        callee, path = found
        if not any(self.owner(argument) for argument in arguments) or callee is self.node:
            return
        inner = _Reader(callee, path, self.names, self.depth + 1).read()
        for argument, use in zip(arguments, inner.values(), strict=False):
            name = self.owner(argument)
            if name is None:
                continue
            if use.array:
                self.array(argument, use.rank, f"{use.why} in {callee.name}")
                self.uses[name].integral |= use.integral
                self.uses[name].element = self.uses[name].element or use.element
            elif use.integer:
                self.counts(argument)

    def array(self, node: ast.expr, rank: int | None, why: str) -> None:
        name = self.owner(node)
        if name is None:
            return
        use = self.uses[name]
        use.array = True
        if rank is not None and (use.rank is None or rank > use.rank):
            use.rank, use.why = rank, why
        use.why = use.why or why

    def counts(self, node: ast.AST) -> None:
        name = self.owner(node)
        if name is not None:
            self.uses[name].integer = True
            self.uses[name].why = self.uses[name].why or "it counts"

    def compared(self, node: ast.expr, other: ast.expr) -> None:
        """`i < n`, where `i` is an index: one that is made of the grid, or that is a bound of an array."""
        if isinstance(other, ast.Name) and self.is_index(other.id):
            self.counts(node)

    def is_index(self, name: str) -> bool:
        for inner in ast.walk(self.node):
            if isinstance(inner, ast.Subscript):
                for part in ast.walk(inner.slice):
                    if isinstance(part, ast.Name) and part.id == name and name not in self.uses:
                        return True
        return False

    def index(self, index: ast.expr) -> None:
        """What stands in an index is an integer."""
        stack: list[ast.AST] = [index]
        while stack:
            inner = stack.pop()
            if isinstance(inner, ast.Subscript):
                self.integral(inner)
                continue
            if isinstance(inner, ast.Call):
                continue
            self.counts(inner)
            self.integral(inner)
            if not isinstance(inner, ast.Attribute):
                stack.extend(ast.iter_child_nodes(inner))

    def integral(self, node: ast.AST) -> None:
        owner = self.element_of(node)
        if owner is not None:
            self.uses[owner].integral = True

    def indices(self, index: ast.expr) -> int:
        if isinstance(index, ast.Tuple):
            return len(index.elts)
        return self.tuples.get(index.id, 1) if isinstance(index, ast.Name) else 1

    def element_of(self, node: ast.AST) -> str | None:
        """The parameter that something is an element of."""
        if isinstance(node, ast.Name):
            return self.elements.get(node.id)
        while isinstance(node, ast.Subscript):
            node = node.value
            if (name := self.owner(node)) is not None:
                return name
        return None

    def owner(self, node: ast.AST) -> str | None:
        if not isinstance(node, ast.Name):
            return None
        name = self.copies.get(node.id, node.id)
        return name if name in self.uses else None

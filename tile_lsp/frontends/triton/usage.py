"""What a kernel's text shows of its parameters: which are pointers, to what, which are sizes, flags, dtypes, texts.

Followed through assignments and through helpers that the kernel calls.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from tile_lsp.frontends.names import Names, chain

from . import spec
from .gluon import language_of, layout_uses
from .use import Asserted, Usage, Use

_ACCESS = frozenset({"load", "store", "prefetch", "buffer_load", "buffer_store", "async_copy_global_to_shared"})
_BASES = frozenset({"make_block_ptr", "make_tensor_descriptor", "_experimental_make_tensor_descriptor"})
#: The same as functions of the language, of a descriptor and where the block begins.
_DESCRIPTOR_FUNCTIONS = frozenset({"load_tensor_descriptor", "store_tensor_descriptor"})
_DESCRIPTOR_CALLS = frozenset({"load", "store", "gather", "scatter", "atomic_add", "atomic_min", "atomic_max"})
#: Of a block between memory and shared memory, by a descriptor and where it begins.
_COPIES = frozenset({"async_copy_global_to_shared", "async_copy_shared_to_global", "async_load", "async_store"})
#: Dimensions of a descriptor's blocks where nothing says how many.
_MATRIX = 2
_THROUGH = frozenset(
    {"to", "cast", "where", "minimum", "maximum", "min", "max", "cdiv", "multiple_of", "max_contiguous", "broadcast_to"}
    | {"expand_dims", "reshape", "view", "trans", "permute", "sum", "abs"}
)
#: Keyword of a function of the language → a word that it takes.
_WORDS = {
    "input_precision": "tf32",
    "eviction_policy": "evict_last",
    "cache_modifier": ".ca",
    "padding_option": "zero",
    "fp_downcast_rounding": "rtne",
    "sem": "relaxed",
    "scope": "gpu",
}
#: The same of its flags, and of its counts.
_FLAGS = frozenset(
    {"warp_specialize", "flatten", "disallow_acc_multi_buffer", "disable_licm", "keep_dims", "volatile", "is_pure"}
)
_COUNTS = {"num_stages": 3, "loop_unroll_factor": 2}
#: Parameters of a product of scaled blocks, and what its formats are kept in.
_SCALED = ("lhs", "lhs_scale", "lhs_format", "rhs", "rhs_scale", "rhs_format")
_FORMATS = {"e2m1": "u8", "e4m3": "fp8e4nv", "e5m2": "fp8e5", "fp16": "fp16", "bf16": "bf16"}
_FLOATING = frozenset(
    {"exp", "exp2", "log", "log2", "sqrt", "rsqrt", "sigmoid", "erf", "sin", "cos", "sqrt_rn", "tanh", "softmax"}
)
#: What takes no half precision.
_FULL = (_FLOATING | {"div_rn"}) - {"softmax"}
#: What is mostly done to locks and counters.
_COUNTERS = frozenset({"atomic_cas", "atomic_xchg", "atomic_add"})
_LANGUAGES = ("triton.language.", "triton.experimental.gluon.language.")
_DEPTH = 8


def read_usage(node: ast.FunctionDef, path: str, names: Names) -> Usage:
    return _usage(node, path, names, 0)


def _usage(node: ast.FunctionDef, path: str, names: Names, depth: int) -> Usage:
    key = ("triton usage", path, str(node.lineno), node.name)
    if depth > _DEPTH:
        return Usage({})
    # A recursive helper meets itself half read, which is what is known of it.
    made = names.cached(key, lambda: Usage({}))
    if not made.uses:
        reader = _Reader(node, path, names, depth, made)
        reader.read()
    return made


class _Reader:
    def __init__(self, node: ast.FunctionDef, path: str, names: Names, depth: int, into: Usage) -> None:
        self.node = node
        self.path = path
        self.names = names
        self.depth = depth
        self.usage = into
        arguments = node.args
        self.parameters = [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
        into.uses.update({name: Use() for name in self.parameters})
        self.aliases: dict[str, set[str]] = {name: {name} for name in self.parameters}
        """Local name → parameters that it may be, as a pointer or as a plain value."""
        self.loaded: dict[str, set[str]] = {}
        """Local name → parameters whose loaded values it is computed from."""
        self.computed: dict[str, set[str]] = {}
        """Local name → parameters that it is computed from."""
        self.counting: set[str] = set()
        """Local names that count: program ids, ranges."""
        self.shapes: dict[object, tuple[str, ...]] = {}
        """Call, or local name → the shape that its value is brought to."""
        self.dtypes: dict[str, ast.expr] = {}
        """Local name → the attribute that asks for a dtype."""
        self.floating: set[str] = set()
        """Local names of what can't be integers."""
        self.bounds: dict[str, str] = {}
        """Loop variable → the parameter that ends its loop."""

    def read(self) -> None:
        self.usage.language = language_of(self.node)
        for name, layout in layout_uses(self.node).items() if self.usage.language else ():
            if name in self.parameters:
                self._use(name).layout, self._use(name).shared = layout
        statements = list(ast.walk(self.node))
        assignments = list(self._assignments(statements))
        for _ in range(4):
            before = self._known()
            for name, value in assignments:
                self._assign(name, value)
            if before == self._known():
                break
        self._reshapes(assignments)
        for node in statements:
            if isinstance(node, ast.Call):
                self._call(node)
            elif isinstance(node, (ast.If, ast.While, ast.IfExp)):
                self._test(node.test)
            elif isinstance(node, ast.BoolOp):
                for value in node.values:
                    self._test(value)
            elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
                self._test(node.operand)
            elif isinstance(node, ast.Compare):
                self._compare(node)
            elif isinstance(node, ast.BinOp):
                self._binary(node)
            elif isinstance(node, ast.For):
                self._sizes(node.iter)
            elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple):
                self.usage.rank = max(self.usage.rank, len(node.slice.elts))
            elif isinstance(node, ast.Subscript):
                self._item(node)
            elif isinstance(node, ast.Assign):
                self._unpacking(node)
        # Pointers are known only now: what is added to them are offsets.
        for node in statements:
            if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)) and self._is_pointer(node.left):
                self._offsets(node.right)
            elif isinstance(node, ast.AugAssign) and self._is_pointer(node.target):
                self._offsets(node.value)
            elif isinstance(node, ast.Attribute) and node.attr in ("dtype", "element_ty", "type"):
                self._element(node)
            elif isinstance(node, ast.Attribute) and node.attr in ("block_type", "block_shape"):
                for name in self._leaves(node.value):
                    self._use(name).descriptor = self._use(name).descriptor or _MATRIX

        self._assertions(self.node.body, ())

    # -- what names stand for

    def _known(self) -> int:
        tables = (self.aliases, self.loaded, self.computed)
        return sum(len(names) for table in tables for names in table.values()) + len(self.counting)

    def _assignments(self, nodes: Iterable[ast.AST]) -> Iterator[tuple[str, ast.expr]]:
        for node in nodes:
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    yield from _pairs(target, node.value)
            elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                # What is added to a pointer makes it no other pointer.
                yield node.target.id, ast.BinOp(ast.Name(node.target.id), ast.Add(), node.value)
            elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and isinstance(node.target, ast.Name) and node.value:
                yield node.target.id, node.value
            elif isinstance(node, ast.For) and isinstance(node.target, ast.Name):
                self.counting.add(node.target.id)
                if isinstance(node.iter, ast.Call) and node.iter.args:
                    last = node.iter.args[min(1, len(node.iter.args) - 1)]
                    if isinstance(last, ast.Name) and last.id in self.parameters:
                        self.bounds[node.target.id] = last.id

    def _assign(self, name: str, value: ast.expr) -> None:
        leaves = self._leaves(value)
        if leaves:
            self.aliases.setdefault(name, set()).update(leaves)
        loaded = self._loaded_in(value)
        if loaded:
            self.loaded.setdefault(name, set()).update(loaded)
        sources = self._sources(value)
        if sources:
            self.computed.setdefault(name, set()).update(sources)
        if self._counts(value):
            self.counting.add(name)
        if self._floats(value):
            self.floating.add(name)
        if isinstance(value, ast.Attribute) and value.attr in ("dtype", "element_ty"):
            self.dtypes[name] = value

    def _leaves(self, node: ast.expr) -> set[str]:
        """Parameters that an expression of additions starts from."""
        match node:
            case ast.Name(id=name):
                return self.aliases.get(name, set())
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
                return self._leaves(left) or self._leaves(right)
            case ast.IfExp(body=body, orelse=orelse):
                return self._leaves(body) | self._leaves(orelse)
            case ast.Subscript(value=value):
                return self._leaves(value)
            case ast.Call(args=[*_, ast.Attribute(value=ast.Name() as like, attr="dtype")]) if self._word(node) in (
                "to",
                "cast",
            ) and self.aliases.get(like.id):
                # An address that is made a pointer as a parameter is one.
                return self._leaves(like)
            case ast.Call(func=ast.Attribute(value=value, attr="to" | "cast")) if not self._is_language(node.func):
                return self._leaves(value)
            case ast.Call(args=[_, first, second]) if self._word(node) == "where":
                return self._leaves(first) | self._leaves(second)
            case ast.Call(args=[first, *_]) if self._word(node) in (
                "multiple_of", "max_contiguous", "cast", "advance", "make_block_ptr", "make_tensor_descriptor",
                "broadcast_to",
            ):  # fmt: skip
                return self._leaves(first)
            case ast.Call(keywords=[ast.keyword(arg="base", value=value), *_]):
                return self._leaves(value)
        return set()

    def _values(self, node: ast.expr) -> set[str]:
        """Parameters that an expression is, in another shape or dtype."""
        match node:
            case ast.Attribute(value=value, attr="T"):
                return self._values(value)
            case ast.Call(args=arguments) if self._word(node) in _THROUGH:
                if isinstance(node.func, ast.Attribute) and not self._is_language(node.func):
                    return self._values(node.func.value)
                return self._values(arguments[0]) if arguments else set()
        return self._leaves(node)

    def _loaded_in(self, node: ast.expr) -> set[str]:
        """Parameters whose loaded values an expression is computed from."""
        match node:
            case ast.Name(id=name):
                return self.loaded.get(name, set())
            case ast.BinOp(left=left, right=right):
                return self._loaded_in(left) | self._loaded_in(right)
            case ast.UnaryOp(operand=operand) | ast.Attribute(value=operand, attr="T"):
                return self._loaded_in(operand)
            case ast.Subscript(value=value):
                return self._loaded_in(value)
            case ast.IfExp(body=body, orelse=orelse):
                return self._loaded_in(body) | self._loaded_in(orelse)
            case ast.Compare():
                return set()
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                return set().union(*map(self._loaded_in, elements)) if elements else set()
            case ast.Call():
                word = self._word(node)
                if word == "load":
                    return self._accessed(node)
                found: set[str] = set()
                if word in _THROUGH:
                    if isinstance(node.func, ast.Attribute) and not self._is_language(node.func):
                        found |= self._loaded_in(node.func.value)
                    values = node.args[1:] if word == "where" else node.args[:2]
                    for value in values:
                        found |= self._loaded_in(value)
                return found
        return set()

    def _counts(self, node: ast.expr) -> bool:
        match node:
            case ast.Name(id=name):
                return name in self.counting
            case ast.BinOp(left=left, right=right):
                return self._counts(left) or self._counts(right)
            case ast.Subscript(value=value):
                return self._counts(value)
            case ast.Call():
                word = self._word(node)
                if word in ("program_id", "num_programs", "arange", "cdiv"):
                    return True
                if isinstance(node.func, ast.Attribute) and word == "to":
                    return self._counts(node.func.value)
                return word in ("min", "max", "minimum", "maximum", "where") and any(map(self._counts, node.args))
        return False

    def _reshapes(self, assignments: Sequence[tuple[str, ast.expr]]) -> None:
        """`y = tl.reshape(x, [M, N])`: that is the shape of `y`, and what `x` was made of has as many elements."""
        for name, given_value in assignments:
            value = given_value
            while isinstance(value, ast.Attribute) and value.attr == "T":
                value = value.value
            if not isinstance(value, ast.Call) or self._word(value) not in ("reshape", "view"):
                continue
            method = isinstance(value.func, ast.Attribute) and not self._is_language(value.func)
            given = value.args[0 if method else 1 :]
            shape = given[0].elts if len(given) == 1 and isinstance(given[0], (ast.List, ast.Tuple)) else given
            lengths = tuple(ast.unparse(length) for length in shape)
            if not lengths or not all(length.isidentifier() or length.isdecimal() for length in lengths):
                continue
            if value is given_value:
                self.shapes[name] = lengths
            source = value.func.value if method and isinstance(value.func, ast.Attribute) else value.args[0]
            loads = [v for n, v in assignments if isinstance(source, ast.Name) and n == source.id] or [source]
            for load in loads:
                if isinstance(load, ast.Call) and self._word(load) == "load":
                    self.shapes.setdefault(id(load), lengths)

    def _floats(self, node: ast.expr) -> bool:
        """True for what can't be an integer."""
        match node:
            case ast.Constant(value=value):
                return isinstance(value, float)
            case ast.Name(id=name):
                return name in self.floating
            case ast.BinOp(left=left, op=operator, right=right):
                return isinstance(operator, ast.Div) or self._floats(left) or self._floats(right)
            case ast.UnaryOp(operand=operand):
                return self._floats(operand)
            case ast.Call(func=ast.Attribute(attr="to"), args=[dtype, *_]):
                return isinstance(dtype, ast.Attribute) and dtype.attr.startswith(("float", "bfloat"))
            case ast.Call(args=arguments):
                word = self._word(node)
                return word in _FLOATING or (word in _THROUGH and any(map(self._floats, arguments)))
        return False

    # -- what is done with them

    def _call(self, node: ast.Call) -> None:
        word = self._word(node)
        # Of an architecture's module, which may be a parameter, there are functions that are nowhere else.
        language = self._is_language(node.func) or (word in _BASES and isinstance(node.func, ast.Attribute))
        if language and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
            self.usage.alias = self.usage.alias or node.func.value.id
        for keyword in node.keywords if language else ():
            if keyword.arg is not None and isinstance(keyword.value, ast.Name):
                self._keyword_use(keyword.arg, self.aliases.get(keyword.value.id, ()))
        if word in _COPIES and len(node.args) > 1 and isinstance(node.args[1], (ast.List, ast.Tuple)):
            for name in self._leaves(node.args[0]):
                self._use(name).descriptor = len(node.args[1].elts)
            return
        if language and word in _DESCRIPTOR_FUNCTIONS and len(node.args) > 1:
            rank = len(node.args[1].elts) if isinstance(node.args[1], (ast.List, ast.Tuple)) else _MATRIX
            for name in self._leaves(node.args[0]):
                self._use(name).descriptor = rank
            return
        if language and (word in _ACCESS or word.startswith("atomic_") or word in _BASES):
            for name in self._accessed(node):
                self._use(name).pointer = f"used by tl.{word}"
                if word in ("store", "atomic_add") and len(node.args) > 1 and self._floats(node.args[1]):
                    self._use(name).floating = True
                if word in _COUNTERS and len(node.args) > 1 and _is_integer(node.args[1]):
                    self._use(name).index = f"a number is given to tl.{word}"
            if word in ("load", "store") and (mask := _keyword(node, "mask")) is not None:
                self._conditions(mask)
            if word in _BASES:
                strides = _keyword(node, "strides")
                if "descriptor" in word and isinstance(strides, (ast.List, ast.Tuple)) and strides.elts:
                    last = strides.elts[-1]
                    for name in self.aliases.get(last.id, ()) if isinstance(last, ast.Name) else ():
                        self._use(name).one = "last stride of a tensor descriptor"
                for keyword in node.keywords:
                    if keyword.arg in ("shape", "strides", "offsets"):
                        self._numbers(keyword.value)
            return
        if isinstance(node.func, ast.Attribute) and word in _DESCRIPTOR_CALLS and not language:
            value = node.func.value
            rank = len(node.args[0].elts) if node.args and isinstance(node.args[0], (ast.List, ast.Tuple)) else 0
            if isinstance(value, ast.Name) and rank:
                for name in self.aliases.get(value.id, ()):
                    self._use(name).descriptor = rank
                    shape = self.shapes.get(id(node)) or self.shapes.get(_stored(node) if word == "store" else None)
                    if shape is not None and len(shape) <= rank:
                        self._use(name).block = (*("1",) * (rank - len(shape)), *shape)
            return
        if language:
            self._language_call(word, node)
            return
        if isinstance(node.func, ast.Name) and node.func.id in ("range", "static_range"):
            self._sizes(node)
            return
        if isinstance(node.func, ast.Name):
            for name in self.aliases.get(node.func.id, ()):
                self._use(name).called = len(node.args) + len(node.keywords)
        if isinstance(node.func, ast.Attribute) and word == "to" and node.args:
            self._dtype(node.args[0])
            self._address(node.func.value, node.args[0])
        self._helper(node)

    def _keyword_use(self, word: str, names: Iterable[str]) -> None:
        for use in map(self._use, names):
            if word in _WORDS:
                use.texts = tuple(dict.fromkeys((*use.texts, _WORDS[word])))
            elif word in _COUNTS:
                use.numbers = tuple(dict.fromkeys((*use.numbers, _COUNTS[word])))
            elif word in _FLAGS:
                use.flag = True

    def _language_call(self, word: str, node: ast.Call) -> None:
        if word == "dot_scaled":
            self._scaled(node)
        elif word == "dot":
            self.usage.has_dot = True
            for operand in node.args[:2]:
                for name in self._loaded_in(operand) | self._values(operand):
                    self._use(name).dot = True
        elif word in ("arange", "zeros", "full", "zeros_like"):
            shape = node.args[1:2] if word == "arange" else node.args[:1]
            for value in shape:
                self._block_sizes(value)
            if (end := _keyword(node, "end")) is not None:
                self._block_sizes(end)
            if word in ("zeros", "full"):
                for value in node.args[1 if word == "zeros" else 2 :]:
                    self._dtype(value)
        elif word in ("range", "static_range"):
            self._sizes(node)
            if word == "static_range":
                for value in node.args:
                    for name in self._names(value):
                        self._use(name).static_loop = True
        elif word in _FULL:
            if word in _FLOATING and any(self._loaded_in(value) for value in node.args[:1]):
                self.usage.needs_float32 = True
            for value in node.args:
                for name in self._loaded_in(value) | self._leaves(value):
                    self._use(name).full = True
        elif word in ("where",) and node.args:
            self._conditions(node.args[0])
        elif word == "cast" and len(node.args) > 1:
            self._dtype(node.args[1])
            self._address(node.args[0], node.args[1])
        elif word in ("cdiv",):
            for value in node.args:
                self._numbers(value)
        for keyword in node.keywords:
            if keyword.arg in ("dtype", "out_dtype"):
                self._dtype(keyword.value)

    def _scaled(self, node: ast.Call) -> None:
        """A product of blocks whose formats are words."""
        self.usage.has_dot = True
        given = dict(zip(_SCALED, node.args, strict=False))
        given |= {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg in _SCALED}
        for side in ("lhs", "rhs"):
            if (scale := given.get(f"{side}_scale")) is not None:
                self._insist(self._loaded_in(scale), Asserted("u8"))
            written = given.get(f"{side}_format")
            element = _FORMATS.get(str(written.value)) if isinstance(written, ast.Constant) else None
            if element is not None and side in given:
                self._insist(self._loaded_in(given[side]), Asserted(element))

    def _address(self, value: ast.expr, dtype: ast.expr) -> None:
        """`x.to(tl.pointer_type(tl.float16))`: what becomes a pointer is as wide as one."""
        if isinstance(dtype, ast.Call) and self._word(dtype) == "pointer_type":
            for name in self._leaves(value):
                self._use(name).address = True
            self._insist(self._loaded_in(value), Asserted("i64"))

    def _helper(self, node: ast.Call) -> None:
        """What a helper does with its parameters, it does with ours."""
        found = self.names.function(node.func, self.path)
        if found is None or not isinstance(found[0], ast.FunctionDef) or found[0] is self.node:
            return
        function, home = found
        inner = _usage(function, home, self.names, self.depth + 1)
        self.usage.has_dot = self.usage.has_dot or inner.has_dot
        self.usage.rank = max(self.usage.rank, inner.rank)
        self.usage.needs_float32 = self.usage.needs_float32 or inner.needs_float32
        parameters = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
        given = list(zip(parameters, node.args, strict=False))
        given += [(keyword.arg, keyword.value) for keyword in node.keywords if keyword.arg]
        for parameter, value in given:
            use = inner.uses.get(parameter)
            if use is None:
                continue
            for name in self._leaves(value):
                own = self._use(name)
                own.pointer = own.pointer or use.pointer
                own.index = own.index or use.index
                own.dot = own.dot or use.dot
                own.descriptor = own.descriptor or use.descriptor
                own.floating = own.floating or use.floating
                own.address = own.address or use.address
            for name in self._leaves(value) | self._loaded_in(value) if use.asserted or use.full else ():
                self._use(name).asserted = tuple(dict.fromkeys((*self._use(name).asserted, *use.asserted)))
                self._use(name).full = self._use(name).full or use.full
            if isinstance(value, ast.Name):
                for name in self.aliases.get(value.id, ()):
                    own = self._use(name)
                    own.size = own.size or use.size
                    own.number = own.number or use.number
                    own.flag = own.flag or use.flag
                    own.none = own.none or use.none
                    own.dtype = own.dtype or use.dtype
                    own.static_loop = own.static_loop or use.static_loop
                    own.called = own.called or use.called
                    own.fraction = own.fraction or use.fraction
                    own.one = own.one or use.one
                    own.contiguous = own.contiguous or use.contiguous
                    own.items = max(own.items, use.items)
                    own.layout = max(own.layout, use.layout)
                    own.shared = own.shared or use.shared
                    own.texts = tuple(dict.fromkeys((*own.texts, *use.texts)))
                    own.numbers = tuple(dict.fromkeys((*own.numbers, *use.numbers)))
            if use.dot:
                for name in self._loaded_in(value):
                    self._use(name).dot = True
            if use.number or use.size:
                for name in self._loaded_in(value):
                    self._use(name).index = "what is loaded is computed with as a number"

    def _accessed(self, node: ast.Call) -> set[str]:
        first = node.args[0] if node.args else _keyword(node, "pointer") or _keyword(node, "base")
        if first is None:
            return set()
        method = isinstance(node.func, ast.Attribute) and not self._is_language(node.func)
        if method and isinstance(node.func, ast.Attribute) and self._word(node) not in _BASES:
            return self._leaves(node.func.value)
        return self._leaves(first)

    def _offsets(self, node: ast.expr) -> None:
        """What is added to a pointer."""
        for name in self._loaded_in(node):
            self._use(name).index = "what is loaded is an offset of another pointer"
        for name in self._sources(node):
            self._use(name).number = True

    def _numbers(self, node: ast.expr) -> None:
        for name in self._loaded_in(node):
            self._use(name).index = "what is loaded is computed with as a number"
        for name in self._names(node):
            self._use(name).number = True

    def _sizes(self, node: ast.expr) -> None:
        if not isinstance(node, ast.Call) or self._word(node) not in ("range", "static_range"):
            return
        for value in node.args:
            for name in self._loaded_in(value):
                self._use(name).index = "what is loaded is the length of a loop"
            for name in self._names(value):
                self._use(name).number = True
        for value in node.args:
            if isinstance(value, ast.Name) and value.id in self.loaded:
                for name in self.loaded[value.id]:
                    self._use(name).index = "what is loaded is the length of a loop"

    def _block_sizes(self, node: ast.expr) -> None:
        for value in node.elts if isinstance(node, (ast.List, ast.Tuple)) else [node]:
            for name in self._names(value):
                self._use(name).size = True

    def _conditions(self, node: ast.expr) -> None:
        for name in self._loaded_in(node):
            self._use(name).truth = True

    def _dtype(self, node: ast.expr) -> None:
        if isinstance(node, ast.Name):
            for name in self.aliases.get(node.id, ()):
                self._use(name).dtype = True

    def _element(self, node: ast.Attribute) -> None:
        value = node.value
        while isinstance(value, ast.Attribute):
            value = value.value
        if node.attr == "element_ty" and isinstance(value, ast.Name):
            for name in self.aliases.get(value.id, ()):
                if not self._use(name).descriptor:
                    self._use(name).pointer = self._use(name).pointer or "its element type is asked for"

    def _assertions(self, body: Sequence[ast.stmt], under: tuple[tuple[str, bool], ...]) -> None:
        """`tl.static_assert(x.dtype == tl.int8)`, and the flag that it stands under."""
        for statement in body:
            match statement:
                case (
                    ast.Assert(test=test)
                    | ast.Expr(value=ast.Call(func=ast.Attribute(attr="static_assert"), args=[test, *_]))
                ):
                    self._asserted(test, under)
                case ast.If(test=ast.Name(id=flag), body=then, orelse=otherwise) if flag in self.parameters:
                    self._assertions(then, (*under, (flag, True)))
                    self._assertions(otherwise, (*under, (flag, False)))
                case ast.If(test=ast.UnaryOp(op=ast.Not(), operand=test), body=then, orelse=otherwise):
                    self._assertions([ast.If(test, otherwise, then)], under)
                case ast.For(body=inner) | ast.While(body=inner) | ast.With(body=inner):
                    self._assertions(inner, under)

    def _asserted(self, test: ast.expr, under: tuple[tuple[str, bool], ...]) -> None:
        if isinstance(test, ast.BoolOp):
            # Of several that may hold, the first.
            for value in test.values if isinstance(test.op, ast.And) else test.values[:1]:
                self._asserted(value, under)
            return
        if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], (ast.Eq, ast.Is)):
            return
        if len(under) > 1:
            return
        flag, holds = under[0] if under else ("", True)
        match test:
            case ast.Compare(
                left=ast.BinOp(left=ast.Name(id=name), op=ast.Mod(), right=ast.Name() | ast.Constant() as divisor),
                comparators=[ast.Constant(value=0)],
            ) if name in self.parameters:
                self._insist({name}, Asserted(divisor=ast.unparse(divisor), flag=flag, holds=holds))
            case (
                ast.Compare(left=ast.Name(id=name), comparators=[ast.Constant(value=value)])
                | ast.Compare(left=ast.Constant(value=value), comparators=[ast.Name(id=name)])
            ) if name in self.parameters and (made := spec.literal(value)) is not None:
                self._insist({name}, Asserted(value=made, flag=flag, holds=holds))
            case ast.Compare(left=ast.Name(id=name), comparators=[ast.Name(id=other)]) if {name, other} <= {
                *self.parameters
            }:
                self._insist({name}, Asserted(same=other, flag=flag, holds=holds))
        for given, other in ((test.left, test.comparators[0]), (test.comparators[0], test.left)):
            side = self.dtypes.get(given.id, given) if isinstance(given, ast.Name) else given
            if not isinstance(side, ast.Attribute) or side.attr not in ("dtype", "element_ty"):
                continue
            owner = side.value
            while isinstance(owner, ast.Attribute) and owner.attr in ("dtype", "type"):
                owner = owner.value
            found = spec.dtype(other.attr) if isinstance(other, ast.Attribute) and self._is_language(other) else None
            if found is not None:
                self._insist(self._leaves(owner) | self._loaded_in(owner), Asserted(found, flag=flag, holds=holds))

    def _insist(self, names: Iterable[str], asserted: Asserted) -> None:
        for name in names:
            self._use(name).asserted = (*self._use(name).asserted, asserted)

    def _unpacking(self, node: ast.Assign) -> None:
        """`first, second = pair`: a parameter that nothing else becomes is a tuple."""
        for target in node.targets:
            if isinstance(target, (ast.Tuple, ast.List)) and isinstance(node.value, ast.Name):
                name = node.value.id
                if name in self.parameters and self.aliases.get(name) == {name} and name not in self.loaded:
                    self._use(name).items = max(self._use(name).items, len(target.elts))

    def _item(self, node: ast.Subscript) -> None:
        """`pointers[0]`, or `pointers[i]` with `i` of an unrolled loop: a parameter that is no block is a tuple."""
        if not isinstance(node.value, ast.Name) or self.aliases.get(node.value.id) != {node.value.id}:
            return
        if node.value.id not in self.parameters or node.value.id in self.loaded:
            return
        use = self._use(node.value.id)
        match node.slice:
            case ast.Constant(value=int() as index) if not isinstance(index, bool):
                use.items = max(use.items, index + 1)
            case ast.Name(id=name) if name in self.counting:
                use.items = max(use.items, 1)
                use.counted_by = use.counted_by or self.bounds.get(name, "")

    def _test(self, node: ast.expr) -> None:
        if isinstance(node, ast.Name):
            for name in self.aliases.get(node.id, ()):
                self._use(name).flag = True
            self._conditions(node)

    def _compare(self, node: ast.Compare) -> None:
        sides = [node.left, *node.comparators]
        chosen = all(isinstance(operator, (ast.Eq, ast.NotEq, ast.Is, ast.IsNot, ast.In)) for operator in node.ops)
        for side in sides if chosen else ():
            if not isinstance(side, ast.Name):
                continue
            for name in self.aliases.get(side.id, ()):
                use = self._use(name)
                for other in sides:
                    value = other.value if isinstance(other, ast.Constant) else other
                    if value is None:
                        use.none = True
                    elif isinstance(value, str):
                        use.texts = tuple(dict.fromkeys((*use.texts, value)))
                    elif isinstance(value, float):
                        use.fraction = use.fraction or repr(value)
                    elif isinstance(value, int) and not isinstance(value, bool):
                        use.numbers = tuple(dict.fromkeys((*use.numbers, value)))
                    elif isinstance(other, (ast.List, ast.Tuple)):
                        texts = [
                            e.value for e in other.elts if isinstance(e, ast.Constant) and isinstance(e.value, str)
                        ]
                        use.texts = tuple(dict.fromkeys((*use.texts, *texts)))
        if any(self._counts(side) for side in sides):
            for side in sides:
                self._numbers(side)
                for name in self._loaded_in(side):
                    self._use(name).index = "what is loaded is compared with a position"

    def _binary(self, node: ast.BinOp) -> None:
        if isinstance(node.op, ast.Mult):
            for stride, along in ((node.left, node.right), (node.right, node.left)):
                if isinstance(stride, ast.Name) and _is_last_axis(along):
                    for name in self.aliases.get(stride.id, ()):
                        self._use(name).contiguous = True
        if isinstance(node.op, (ast.Mod, ast.FloorDiv, ast.LShift, ast.RShift, ast.BitAnd, ast.BitOr, ast.BitXor)):
            if isinstance(node.op, (ast.BitAnd, ast.BitOr)) and not self._plain(node):
                return
            for side in (node.left, node.right):
                if not isinstance(side, ast.Compare):
                    self._numbers(side)
        elif isinstance(node.op, ast.Mult) and (self._counts(node.left) or self._counts(node.right)):
            for name in self._names(node.left) | self._names(node.right):
                self._use(name).number = True

    def _plain(self, node: ast.BinOp) -> bool:
        """False for masks: `(a < b) & (c < d)`."""
        return not any(isinstance(inner, ast.Compare) for inner in ast.walk(node)) and any(
            isinstance(side, ast.Constant) for side in (node.left, node.right)
        )

    # -- words

    def _is_pointer(self, node: ast.expr) -> bool:
        return any(self._use(name).pointer for name in self._leaves(node))

    def _names(self, node: ast.expr) -> set[str]:
        """Parameters that an expression of plain arithmetic names."""
        match node:
            case ast.Name(id=name):
                return self.aliases.get(name, set())
            case ast.BinOp(left=left, right=right):
                return self._names(left) | self._names(right)
            case ast.Call(args=arguments) if self._word(node) in ("cdiv", "min", "max", "minimum", "maximum"):
                return set().union(*map(self._names, arguments)) if arguments else set()
            case ast.Call(func=ast.Attribute(value=value, attr="to")):
                return self._names(value)
        return set()

    def _sources(self, node: ast.expr) -> set[str]:
        """Parameters that arithmetic starts from, through local names."""
        match node:
            case ast.Name(id=name):
                return self.aliases.get(name, set()) | self.computed.get(name, set())
            case ast.BinOp(left=left, right=right):
                return self._sources(left) | self._sources(right)
            case ast.Subscript(value=value) | ast.Call(func=ast.Attribute(value=value, attr="to")):
                return self._sources(value)
        return self._names(node)

    def _use(self, name: str) -> Use:
        return self.usage.uses.setdefault(name, Use())

    def _word(self, node: ast.Call) -> str:
        names = chain(node.func)
        if names is not None:
            return names[-1]
        return node.func.attr if isinstance(node.func, ast.Attribute) else ""

    def _is_language(self, node: ast.expr) -> bool:
        names = chain(node)
        if names is None or len(names) < 2:
            return False
        if names[0] in ("tl", "gl", "ttgl", "tle"):
            return True
        dotted = self.names.dotted(node, self.path)
        return dotted is not None and dotted.startswith(_LANGUAGES)


def _is_integer(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int


def _stored(node: ast.Call) -> str | None:
    """The name of what a descriptor stores, casts left out."""
    value = node.args[1] if len(node.args) > 1 else None
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "to":
        value = value.func.value
    return value.id if isinstance(value, ast.Name) else None


def _is_last_axis(node: ast.expr) -> bool:
    """`columns[None, :]`: what goes along the last dimension."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Tuple):
        return False
    *others, last = node.slice.elts
    missing = all(isinstance(each, ast.Constant) and each.value is None for each in others)
    return isinstance(last, ast.Slice) and missing and bool(others)


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, (ast.Tuple, ast.List)):
        if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts):
            for inner, item in zip(target.elts, value.elts, strict=True):
                yield from _pairs(inner, item)
        else:
            for inner in target.elts:
                yield from _pairs(inner, value)


def _keyword(node: ast.Call, name: str) -> ast.expr | None:
    return next((keyword.value for keyword in node.keywords if keyword.arg == name), None)

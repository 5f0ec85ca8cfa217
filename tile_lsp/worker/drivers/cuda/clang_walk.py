"""From syntax trees to records: which functions are read, and by which calls they were reached."""

from __future__ import annotations

from collections import deque
from typing import Any

from .clang_copies import COPY, Broken
from .clang_expressions import Expressions
from .clang_library import Cursor
from .clang_records import Records
from .clang_tree import (
    ALIAS,
    BLOCK,
    CLASS_TEMPLATE,
    DEVICE_ATTRIBUTE,
    ENUM,
    ENUM_CONSTANT,
    FIELD,
    FUNCTION,
    FUNCTION_TEMPLATE,
    FUNCTIONS,
    GLOBAL_ATTRIBUTE,
    HOST_ATTRIBUTE,
    LINKAGE,
    NAME,
    NAMESPACE,
    PARTIAL,
    RECORDS,
    TEMPLATE_PARAMETER,
    TYPE_PARAMETER,
    TYPE_REFERENCE,
    UNEXPOSED_DECLARATION,
    VALUE_PARAMETER,
    VARIABLE,
    Known,
    Node,
    Tree,
    declaration,
)

_PARAMETERS = (TYPE_PARAMETER, VALUE_PARAMETER, TEMPLATE_PARAMETER)
_TYPE_ARGUMENT, _VALUE_ARGUMENT = 1, 4
#: Instantiations of all templates together that are read for one kernel.
_MOST = 256

Site = list[Any]


class Walk:
    """One translation unit's records.

    `hidden`: where templates begin that have a copy, whose types are the better ones. `opaque`: types that nothing
    declares.
    """

    def __init__(
        self, tree: Tree, hidden: frozenset[tuple[str, int, int]], opaque: frozenset[str], *, everywhere: bool
    ) -> None:
        self._tree = tree
        self._clang = tree.clang
        self._hidden = hidden
        self._everywhere = everywhere
        self.records = Records(tree)
        self._expressions = Expressions(tree, self.records, self._reach, opaque)
        self._plain: dict[int, Node | Cursor] = {}
        """Functions of no template, by their declaration; those that stand alone have no tree until they are read."""
        self._patterns: dict[int, Node] = {}
        """Functions whose types depend on a template's parameters."""
        self._free: set[int] = set()
        """Those of them that are templates themselves, and stand in no class."""
        self._unasked: list[Cursor] = []
        """Instantiations, of which clang tells too; a call that leads there says more."""
        self._copied: list[tuple[int, dict[str, str]]] = []
        self._queue: deque[tuple[Cursor, list[Site]]] = deque()
        self._seen: set[int] = set()
        self._read = 0
        self._done: set[int] = set()
        self._broken: dict[int, Broken] = {}
        self._kernels: set[int] = set()
        """The kernel, and copies of it."""

    def all(self, name: str, probe: str, *, sound: bool) -> None:
        """The kernel `name`, which the variable `probe` refers to if it can, and what it reaches. In a text that isn't
        `sound` not all calls lead anywhere: then everything.
        """
        tree = self._tree
        for cursor in tree.children(tree.root()):
            if tree.places.spot(self._clang.getCursorExtent(cursor)) is None:
                continue
            if cursor.kind == FUNCTION:
                self._function(cursor, dependent=False)
            else:
                self._declared(tree.of(cursor), probe, dependent=False)
        if not self._queue:
            for cursor in map(_cursor, self._plain.values()):
                if tree.name(cursor) == name:
                    self._reach(cursor, None, [])
        self._kernels.update(declaration(cursor) for cursor, _ in self._queue)
        sound = sound and bool(self._queue)
        for number, aliases in self._copied:
            if tree.name(_cursor(self._plain[number])) == name:
                self._kernels.add(number)
            self.records.aliases.update(aliases)
            self._whole(number)
            self.records.aliases.clear()
        self._drain()
        if not sound:
            self._rest()

    def _rest(self) -> None:
        for number, found in list(self._plain.items()):
            node = found if isinstance(found, Node) else self._tree.of(found)
            if number not in self._seen and self._is_device(node):
                self._plain[number] = node
                self._whole(number)
        for cursor in self._unasked:
            self._reach(cursor, None, [])
        self._drain()
        for number, node in self._patterns.items():
            if number not in self._done and number not in self._broken and not self._is_hidden(node):
                self._enter(node.cursor)
                self._expressions.read(node, [], dependent=True)

    def _drain(self) -> None:
        while self._queue and self._read < _MOST:
            self._read += 1
            cursor, sites = self._queue.popleft()
            number = declaration(cursor)
            if number in self._plain:
                self._whole(number)
            else:
                self._instantiation(cursor, sites)

    def broken(self) -> list[Broken]:
        return list(self._broken.values())

    def _whole(self, number: int) -> None:
        """A function that is what it is, whoever calls it."""
        self._seen.add(number)
        found = self._plain[number]
        node = found if isinstance(found, Node) else self._tree.of(found)
        self._enter(node.cursor)
        self._expressions.read(node, [], dependent=False)

    def _enter(self, cursor: Cursor) -> None:
        self.records.enter(None if declaration(cursor) in self._kernels else cursor)

    def _declared(self, node: Node, probe: str, *, dependent: bool) -> None:
        kind = node.kind
        if kind == NAMESPACE and self._tree.name(node.cursor).startswith(COPY):
            self._copy(node)
        elif kind in (NAMESPACE, LINKAGE, UNEXPOSED_DECLARATION) or kind in RECORDS:
            for child in node.children:
                self._declared(child, probe, dependent=dependent)
        elif kind in (CLASS_TEMPLATE, PARTIAL):
            for child in node.children:
                self._declared(child, probe, dependent=True)
        elif kind == FUNCTION_TEMPLATE:
            if self._is_device(node):
                number = declaration(node.cursor)
                self._patterns[number] = node
                if node.parent is None or node.parent.kind in (NAMESPACE, LINKAGE, UNEXPOSED_DECLARATION):
                    self._free.add(number)
        elif kind in FUNCTIONS:
            self._function(node, dependent=dependent)
        elif kind == VARIABLE and self._tree.name(node.cursor) == probe:
            for inner in node.all():
                if inner.kind == NAME:
                    self._reach(self._clang.getCursorReferenced(inner.cursor), None, [])
        elif kind in (VARIABLE, FIELD, ENUM, ENUM_CONSTANT):
            around = self._clang.getCursorSemanticParent(node.cursor)
            self.records.enter(around if around.kind in (*RECORDS, CLASS_TEMPLATE, PARTIAL) else node.cursor)
            self._expressions.read(node, [], dependent=dependent)

    def _function(self, found: Node | Cursor, *, dependent: bool) -> None:
        cursor = _cursor(found)
        number = declaration(cursor)
        if isinstance(found, Node) and dependent:
            if self._is_device(found):
                self._patterns[number] = found
        elif self._is_instantiation(cursor):
            self._unasked.append(cursor)
        else:
            self._plain[number] = found

    def _copy(self, namespace: Node) -> None:
        """In a copy a template's parameters are names of types: what they stand for is shown instead."""
        aliases: dict[str, str] = {}
        for child in namespace.children:
            if child.kind == ALIAS and (ty := self._tree.type_of(child.cursor)) is not None:
                aliases[self._tree.name(child.cursor)] = ty.canonical
            elif child.kind == FUNCTION:
                number = declaration(child.cursor)
                self._plain[number] = child
                self._copied.append((number, aliases))

    def _is_device(self, node: Node) -> bool:
        attributes = {child.kind for child in node.children if child.kind >= HOST_ATTRIBUTE - 3}
        if attributes & {DEVICE_ATTRIBUTE, GLOBAL_ATTRIBUTE}:
            return True
        if HOST_ATTRIBUTE in attributes:
            return False
        if self._everywhere:
            return True
        body = next((child.spot for child in node.children if child.kind == BLOCK), None)
        if node.spot is None or body is None:
            return False
        return b"constexpr" in self._tree.places.text[node.spot.begin : body.begin]

    def _is_hidden(self, node: Node) -> bool:
        return node.spot is not None and self._tree.places.lines.position(node.spot.begin) in self._hidden

    # -- instantiations ------------------------------------------------------------------------------------------------

    def _reach(self, cursor: Cursor, site: Site | None, sites: list[Site]) -> None:
        """A function that something refers to. If it is an instantiation, it remembers from where."""
        if cursor.kind not in FUNCTIONS:
            return
        whole = self._clang.getCursorDefinition(cursor)
        cursor = whole if whole.kind in FUNCTIONS else cursor
        number = declaration(cursor)
        if number in self._seen:
            return
        if self._is_instantiation(cursor):
            self._seen.add(number)
            self._queue.append((cursor, [site, *sites] if site is not None else sites))
        elif number in self._plain or self._tree.places.spot(self._clang.getCursorExtent(cursor)) is not None:
            self._seen.add(number)
            self._plain.setdefault(number, cursor)
            self._queue.append((cursor, []))

    def _is_instantiation(self, cursor: Cursor) -> bool:
        """True for what clang made of a template; a specialisation that is written out has a place of its own."""
        clang = self._clang
        pattern = clang.getSpecializedCursorTemplate(cursor)
        if not pattern.a:
            return False
        own = clang.getCursorLocation(cursor).raw
        return own in (
            clang.getCursorLocation(pattern).raw,
            clang.getCursorLocation(clang.getCursorDefinition(pattern)).raw,
        )

    def _instantiation(self, cursor: Cursor, sites: list[Site]) -> None:
        clang, tree = self._clang, self._tree
        spot = tree.places.spot(clang.getCursorExtent(cursor))
        if spot is None or tree.places.lines.position(spot.begin) is None:
            return
        pattern = clang.getSpecializedCursorTemplate(cursor)
        whole = clang.getCursorDefinition(pattern)
        number = declaration(whole if whole.a else pattern)
        node = tree.of(cursor)
        if any(child.kind == BLOCK for child in node.children):
            self._done.add(number)
            self._enter(cursor)
            self._expressions.read(node, sites, dependent=False)
            self._substituted(number, cursor, sites)
        elif number in self._free and number not in self._done:
            template = self._patterns[number]
            if any(child.kind == BLOCK for child in template.children):
                broken = self._broken_one(template, cursor)
                if broken is not None:
                    self._broken.setdefault(number, broken)
                    self._enter(cursor)
                    self._substituted(number, cursor, sites)

    def _arguments(self, template: Node, cursor: Cursor) -> list[tuple[Node, Known | None, int | None]]:
        """Parameters of a function template and what they stand for, as far as libclang tells: up to a pack."""
        clang = self._clang
        parameters = [child for child in template.children if child.kind in _PARAMETERS]
        found: list[tuple[Node, Known | None, int | None]] = []
        for position in range(min(clang.Cursor_getNumTemplateArguments(cursor), len(parameters))):
            kind = clang.Cursor_getTemplateArgumentKind(cursor, position)
            if kind == _TYPE_ARGUMENT:
                ty = self._tree.known(clang.Cursor_getTemplateArgumentType(cursor, position))
                found.append((parameters[position], ty, None))
            elif kind == _VALUE_ARGUMENT:
                ty = self._tree.type_of(parameters[position].cursor)
                found.append((parameters[position], ty, clang.Cursor_getTemplateArgumentValue(cursor, position)))
            else:
                break
        return found

    def _substituted(self, number: int, cursor: Cursor, sites: list[Site]) -> None:
        """Records of the template's parameters, and of the types that they stand for where the text has them."""
        template = self._patterns.get(number)
        if template is None or template.kind != FUNCTION_TEMPLATE:
            return
        meant: dict[int, Known] = {}
        for parameter, ty, value in self._arguments(template, cursor):
            if ty is None:
                continue
            name = self._tree.name(parameter.cursor)
            constant = None if value is None else self.records.number(ty, value)
            text = ty.text if parameter.kind == VALUE_PARAMETER else f"type {ty.text}"
            self.records.name(parameter.cursor, sites, "param", text, name, constant)
            if parameter.kind == TYPE_PARAMETER:
                meant[declaration(parameter.cursor)] = ty
        for node in template.all():
            if node.kind == TYPE_REFERENCE and node.spot is not None:
                ty = meant.get(declaration(self._clang.getCursorReferenced(node.cursor)))
                if ty is not None:
                    self.records.add(node.spot, sites, "load", f"type {ty.text}", self._tree.places.source(node.spot))

    def _broken_one(self, template: Node, cursor: Cursor) -> Broken | None:
        places = self._tree.places
        spot = template.spot
        parameters = [child for child in template.children if child.kind in _PARAMETERS]
        if spot is None or not parameters or parameters[-1].spot is None:
            return None
        declared = []
        for parameter, ty, value in self._arguments(template, cursor):
            name = self._tree.name(parameter.cursor)
            if ty is None or not name:
                continue
            if value is None:
                declared.append(f"using {name} = {ty.text};")
            else:
                declared.append(f"constexpr {ty.canonical} {name} = ({ty.canonical}){value};")
        position = places.lines.position(spot.begin)
        if position is None:
            return None
        return Broken(spot.begin, parameters[-1].spot.end, spot.end, position, tuple(declared))


def _cursor(found: Node | Cursor) -> Cursor:
    return found.cursor if isinstance(found, Node) else found

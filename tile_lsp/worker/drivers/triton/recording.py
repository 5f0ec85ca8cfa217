"""The type of every expression and name, seen as triton's code generator goes through the kernel's syntax tree.

The generator visits each expression once for each function that it generates; a subclass in its place sees the node,
and afterwards the value that it stands for. What is noted there is little: texts are made at the end.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Collection
from types import ModuleType
from typing import Any, NoReturn

from ...absent import Nothing, reason
from ...records import record
from . import typetext

Place = list[Any]
Chain = list[Place]

#: From this release on places are exact,
_EXACT = (3, 8)
#: and up to this one we know what the generator does with each node.
_KNOWN = (3, 9)

_active: Recorder | None = None


def install(code_generator: Any, release: tuple[int, int]) -> None:
    """Once a process: put the subclass in place."""
    if getattr(code_generator.CodeGenerator, "records_types", False):
        return
    code_generator.CodeGenerator = _subclass(code_generator, release)
    if release <= _KNOWN:
        # A function is parsed for each of its specialisations. The generator leaves the trees as they are.
        owner = next(kind for kind in code_generator.JITFunction.__mro__ if "parse" in kind.__dict__)
        parse = functools.lru_cache(maxsize=512)(ast.parse)
        owner.parse = lambda function: parse(function.src)


class Unverified:
    """A finished module, in whose place triton verifies this one: that has time until the passes run, and all types are
    known. Gluon's is verified at once, since it is its layouts that may be wrong.
    """

    def __init__(self, module: Any) -> None:
        self.module = module

    def verify(self) -> bool:
        return True


class Recorder:
    """Notes of one inference, and the functions that it entered. Use as a context."""

    def __init__(self, members: Collection[str]) -> None:
        self.members = members
        self.notes: list[tuple[Any, ast.AST, str, str | None, Any]] = []
        self.generators: list[Any] = []
        """One for each function that was generated, the kernel's first."""
        self.stack: list[Any] = []

    def __enter__(self) -> Recorder:
        global _active
        _active = self
        return self

    def __exit__(self, *error: object) -> None:
        global _active
        _active = None

    @property
    def reached(self) -> set[str]:
        return {generator.file_name for generator in self.generators if generator.file_name in self.members}

    def place(self, generator: Any, node: Any) -> Place | None:
        """The exact range of a node, or None outside of the closure."""
        if generator.file_name not in self.members or not hasattr(node, "lineno"):
            return None
        line, column = generator.begin_line, generator.indent
        end_line = node.end_lineno if node.end_lineno is not None else node.lineno
        end_column = node.end_col_offset if node.end_col_offset is not None else node.col_offset
        return [
            generator.file_name,
            line + node.lineno,
            column + node.col_offset,
            line + end_line,
            column + end_column,
        ]

    def chain(self, generator: Any, node: Any) -> Chain:
        """Innermost first, then the call sites. Places outside the closure are left out."""
        own = self.place(generator, node)
        around = self.callers(generator)
        return [own, *around] if own is not None else around

    def callers(self, generator: Any) -> Chain:
        if generator.call_site is None:
            return []
        if generator.callers is None:
            generator.callers = self.chain(*generator.call_site)
        return generator.callers

    def records(self, facts: dict[str, tuple[tuple[str, str], ...]]) -> list[list[Any]]:
        """As the server's `TypeRecord`s, each once, in the order in which they were met. `facts`: of the kernel's
        parameters, by name.
        """
        seen: set[Any] = set()
        records = []
        kernel = self.generators[0] if self.generators else None
        texts: dict[int, tuple[str, str | None] | None] = {}  # one value has several names and uses
        for generator, node, kind, name, value in self.notes:
            if id(value) not in texts:
                texts[id(value)] = typetext.of(value)
            told = texts[id(value)]
            if told is None:
                continue
            ty, constant = told
            chain = self.chain(generator, node)
            if not chain:
                # Triton's own assignment, of a default to a parameter with an annotation.
                continue
            key = (id(generator), *chain[0], kind, name, told)
            if key in seen:
                continue
            seen.add(key)
            own = facts.get(name or "", ()) if kind == "param" and generator is kernel else ()
            records.append(record(chain, kind, ty, name, constant, own))
        return records

    def inactive(self) -> list[Place]:
        """Statements of functions that were generated, which constants rule out: none of their generators came by."""
        seen: dict[tuple[str, int], set[tuple[int, int]]] = {}
        conditionals: dict[tuple[str, int], dict[tuple[int, int], ast.IfExp]] = {}
        first: dict[tuple[str, int], Any] = {}
        for generator in self.generators:
            if generator.file_name in self.members and generator.tree is not None and generator.complete:
                key = (generator.file_name, generator.begin_line)
                seen.setdefault(key, set()).update(generator.visited)
                conditionals.setdefault(key, {}).update(generator.conditionals)
                first.setdefault(key, generator)
        found: list[Place] = []
        for key, generator in first.items():
            branches = [branch for node in conditionals[key].values() for branch in (node.body, node.orelse)]
            unseen = [branch for branch in branches if (branch.lineno, branch.col_offset) not in seen[key]]
            for node in (*_unseen(generator.tree, seen[key]), *unseen):
                place = self.place(generator, node)
                if place is not None:
                    found.append(place)
        return found


def _unseen(node: ast.AST, visited: set[tuple[int, int]]) -> list[ast.AST]:
    """The outermost statements that were not visited."""
    found: list[ast.AST] = []
    for field in ("body", "orelse"):
        block = getattr(node, field, None)
        for statement in block if isinstance(block, list) else ():
            if (statement.lineno, statement.col_offset) in visited or _says_nothing(statement):
                found += _unseen(statement, visited)
            else:
                found.append(statement)
    return found


def _says_nothing(node: ast.stmt) -> bool:
    return isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def _subclass(code_generator: Any, release: tuple[int, int]) -> type:
    base = code_generator.CodeGenerator
    error_type = code_generator.CompilationError
    # Before 3.8 an operation got the place of the operand that was visited last, columns counted from 0, and those of
    # an indented function from its indentation.
    exact = release >= _EXACT

    class Recording(base):  # type: ignore[misc, valid-type]
        records_types = True

        def __init__(self, *arguments: Any, **keywords: Any) -> None:
            super().__init__(*arguments, **keywords)
            recorder = _active
            self.callers: Chain | None = None
            self.call_site: tuple[Any, Any] | None = None
            self.tree: ast.AST | None = None
            self.complete = False
            self.visited: set[tuple[int, int]] = set()
            self.conditionals: dict[tuple[int, int], ast.IfExp] = {}
            self.target: ast.Name | None = None
            self.indent = _indent(self.jit_fn)
            self.first_column = self.begin_col if exact else self.indent + 1
            self.noted = recorder is not None and self.file_name in recorder.members
            if recorder is not None:
                if recorder.stack:
                    caller = recorder.stack[-1]
                    self.call_site = (caller, caller.cur_node)
                recorder.generators.append(self)

        def visit(self, node: Any) -> Any:
            recorder = _active
            if recorder is None or node is None:
                return super().visit(node)
            if self.tree is None and isinstance(node, ast.FunctionDef):
                self.tree = node
                recorder.stack.append(self)
                try:
                    result = self._visit(node)
                    self.complete = True
                finally:
                    recorder.stack.pop()
                if not recorder.stack and not self.is_gluon:
                    self.module = Unverified(self.module)
                return result
            # Nodes that the generator made up have no place.
            if not self.noted or not hasattr(node, "lineno"):
                return self._visit(node)
            is_name = isinstance(node, ast.Name)
            if is_name:
                if isinstance(node.ctx, ast.Store):
                    self.target = node
                elif node.id not in self.lscope and isinstance(self.gscope.get(node.id), Nothing):
                    self._refuse(node, self.gscope[node.id])
            is_expression = isinstance(node, ast.expr)
            if is_expression or isinstance(node, ast.stmt):
                self.visited.add((node.lineno, node.col_offset))
            result = self._visit(node)
            if isinstance(result, Nothing) and isinstance(getattr(node, "ctx", None), ast.Load):
                self._refuse(node, result)
            # A module is not what anyone asks for: what is taken of it starts at the same place. Nor is what an index
            # is made of, where that is no value.
            if is_expression and result is not None and not isinstance(result, (str, ModuleType)) and not _slices(node):
                kind, name = ("load", node.id) if is_name else ("expr", None)
                recorder.notes.append((self, node, kind, name, result))
            return result

        def _refuse(self, node: Any, value: Nothing) -> NoReturn:
            """A value of host code that could not run, or of a library that is not there, can't be compiled."""
            error = error_type(self.jit_fn.src, node, f"`{ast.unparse(node)}` is not there: {reason(value)}")
            error.tile_place = (self, node)
            raise error

        def _visit(self, node: Any) -> Any:
            try:
                return visit(self, node)
            except Exception as error:
                if not hasattr(error, "tile_place"):
                    # The first generator that an error passes is the one that it is of.
                    at = getattr(error, "node", None)
                    at = at if hasattr(at, "lineno") else self.cur_node if hasattr(self.cur_node, "lineno") else node
                    error.tile_place = (self, at)  # type: ignore[attr-defined]
                raise

        def visit_with_place(self, node: Any) -> Any:
            """As triton does, straight to the method for a kind of node, and with one place for all releases."""
            builder, last_node = self.builder, self.cur_node
            last = builder.get_loc()
            self.cur_node = node
            if hasattr(node, "lineno") and hasattr(node, "col_offset"):
                column = self.first_column + node.col_offset
                here = builder.create_loc(self.file_name, self.begin_line + node.lineno, column)
                if self.name_loc_as_prefix is not None:
                    here = builder.create_name_loc(self.name_loc_as_prefix, here)
                builder.set_loc(here)
            try:
                result = method_for(type(node))(self, node)
            except error_type:
                raise
            except Exception as error:
                raise error_type(self.jit_fn.src, self.cur_node, repr(error)) from None
            if last:
                if exact and self.name_loc_as_prefix is not None and last.get_name() is None:
                    last.set_name(self.name_loc_as_prefix)
                self.cur_node = last_node
                builder.set_loc(last)
            return result

        def set_value(self, name: str, value: Any) -> None:
            super().set_value(name, value)
            recorder = _active
            if recorder is None or not self.noted:
                return
            node: Any = self.target
            self.target = None
            if node is None or node.id != name:
                node = getattr(self.cur_node, "target", None)
                if not (isinstance(node, ast.Name) and node.id == name):
                    return
            recorder.notes.append((self, node, "store", name, value))

        def visit_AnnAssign(self, node: Any) -> Any:
            """A constant is bound without `set_value`. Defaults of parameters are bound by nodes that have no place."""
            result = super().visit_AnnAssign(node)
            recorder = _active
            is_name = isinstance(node.target, ast.Name) and hasattr(node.target, "lineno")
            if result is not None and recorder is not None and self.noted and is_name:
                recorder.notes.append((self, node.target, "store", node.target.id, result))
            return result

        def visit_IfExp(self, node: Any) -> Any:
            self.conditionals[node.lineno, node.col_offset] = node
            return super().visit_IfExp(node)

        def visit_FunctionDef(self, node: Any) -> Any:
            parameters = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            self.parameters = {argument.arg: argument for argument in parameters}
            return super().visit_FunctionDef(node)

        def visit_compound_statement(self, statements: Any) -> Any:
            recorder = _active
            parameters = getattr(self, "parameters", None)
            if recorder is not None and self.noted and parameters is not None and isinstance(statements, list):
                # The function's body: its parameters are bound now.
                self.parameters = None
                for name, argument in parameters.items():
                    if name in self.lscope:
                        node = ast.copy_location(ast.Name(name, ast.Store()), argument)
                        node.end_lineno = node.lineno
                        node.end_col_offset = node.col_offset + len(name.encode())
                        recorder.notes.append((self, node, "param", name, self.lscope[name]))
            return super().visit_compound_statement(statements)

    @functools.cache
    def method_for(kind: type[ast.AST]) -> Callable[[Any, Any], Any]:
        return getattr(Recording, f"visit_{kind.__name__}", Recording.generic_visit)

    visit = Recording.visit_with_place if release <= _KNOWN else base.visit
    return Recording


def _slices(node: ast.expr) -> bool:
    """True for `:, None` of an index."""
    return isinstance(node, ast.Tuple) and any(isinstance(item, ast.Slice) for item in node.elts)


def _indent(function: Any) -> int:
    """Of a function's `def` in its file, in bytes."""
    for line in getattr(function, "raw_src", ()):
        stripped = line.lstrip()
        if stripped.startswith(("def ", "@")):
            return len(line) - len(stripped)
    return 0

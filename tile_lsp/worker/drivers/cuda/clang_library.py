"""libclang by ctypes: the functions that types need, from the wheel `libclang` or the system. Nothing is imported."""

from __future__ import annotations

import ctypes
import ctypes.util
import functools
import importlib.util
import os
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

#: The oldest that is known to recover from errors as is counted on here, and to know the architectures.
_FLOOR = 18


class Cursor(ctypes.Structure):
    _fields_ = (
        ("kind", ctypes.c_int),
        ("xdata", ctypes.c_int),
        ("a", ctypes.c_void_p),
        ("b", ctypes.c_void_p),
        ("c", ctypes.c_void_p),
    )


class Type(ctypes.Structure):
    _fields_ = (("kind", ctypes.c_int), ("a", ctypes.c_void_p), ("b", ctypes.c_void_p))


class Location(ctypes.Structure):
    _fields_ = (("a", ctypes.c_void_p), ("b", ctypes.c_void_p), ("raw", ctypes.c_uint))


class Range(ctypes.Structure):
    _fields_ = (("a", ctypes.c_void_p), ("b", ctypes.c_void_p), ("begin", ctypes.c_uint), ("end", ctypes.c_uint))


class _String(ctypes.Structure):
    _fields_ = (("data", ctypes.c_void_p), ("flags", ctypes.c_uint))


class _Unsaved(ctypes.Structure):
    _fields_ = (("name", ctypes.c_char_p), ("text", ctypes.c_char_p), ("size", ctypes.c_ulong))


_Visitor = ctypes.CFUNCTYPE(ctypes.c_int, Cursor, Cursor, ctypes.c_void_p)

_P, _I, _U, _L = ctypes.c_void_p, ctypes.c_int, ctypes.c_uint, ctypes.c_longlong
_SIGNATURES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "createIndex": (_P, (_I, _I)),
    "disposeIndex": (None, (_P,)),
    "parseTranslationUnit2": (_I, (_P, ctypes.c_char_p, _P, _I, _P, _U, _U, _P)),
    "saveTranslationUnit": (_I, (_P, ctypes.c_char_p, _U)),
    "disposeTranslationUnit": (None, (_P,)),
    "getTranslationUnitCursor": (Cursor, (_P,)),
    "getFile": (_P, (_P, ctypes.c_char_p)),
    "getLocationForOffset": (Location, (_P, _P, _U)),
    "getFileLocation": (None, (Location, _P, _P, _P, _P)),
    "getExpansionLocation": (None, (Location, _P, _P, _P, _P)),
    "visitChildren": (_U, (Cursor, _Visitor, _P)),
    "getCursorExtent": (Range, (Cursor,)),
    "getCursorLocation": (Location, (Cursor,)),
    "getCursorSpelling": (_String, (Cursor,)),
    "getCursorDisplayName": (_String, (Cursor,)),
    "Cursor_isInlineNamespace": (_U, (Cursor,)),
    "getCursorPrintingPolicy": (_P, (Cursor,)),
    "PrintingPolicy_setProperty": (None, (_P, _I, _U)),
    "PrintingPolicy_dispose": (None, (_P,)),
    "getCursorPrettyPrinted": (_String, (Cursor, _P)),
    "getCursorSemanticParent": (Cursor, (Cursor,)),
    "getCursorReferenced": (Cursor, (Cursor,)),
    "getCursorDefinition": (Cursor, (Cursor,)),
    "getSpecializedCursorTemplate": (Cursor, (Cursor,)),
    "isInvalidDeclaration": (_U, (Cursor,)),
    "getCursorType": (Type, (Cursor,)),
    "getCursorResultType": (Type, (Cursor,)),
    "getCanonicalType": (Type, (Type,)),
    "getTypeSpelling": (_String, (Type,)),
    "getPointeeType": (Type, (Type,)),
    "isConstQualifiedType": (_U, (Type,)),
    "Type_getSizeOf": (_L, (Type,)),
    "Type_getAlignOf": (_L, (Type,)),
    "getEnumConstantDeclValue": (_L, (Cursor,)),
    "Cursor_getNumTemplateArguments": (_I, (Cursor,)),
    "Cursor_getTemplateArgumentKind": (_I, (Cursor, _U)),
    "Cursor_getTemplateArgumentType": (Type, (Cursor, _U)),
    "Cursor_getTemplateArgumentValue": (_L, (Cursor, _U)),
    "Cursor_Evaluate": (_P, (Cursor,)),
    "EvalResult_getKind": (_I, (_P,)),
    "EvalResult_getAsLongLong": (_L, (_P,)),
    "EvalResult_isUnsignedInt": (_U, (_P,)),
    "EvalResult_getAsUnsigned": (ctypes.c_ulonglong, (_P,)),
    "EvalResult_getAsDouble": (ctypes.c_double, (_P,)),
    "EvalResult_dispose": (None, (_P,)),
    "getNumDiagnostics": (_U, (_P,)),
    "getDiagnostic": (_P, (_P, _U)),
    "getDiagnosticSeverity": (_I, (_P,)),
    "getDiagnosticSpelling": (_String, (_P,)),
    "getDiagnosticLocation": (Location, (_P,)),
    "disposeDiagnostic": (None, (_P,)),
    "getCString": (ctypes.c_char_p, (_String,)),
    "disposeString": (None, (_String,)),
    "getClangVersion": (_String, ()),
}

#: Tells a parse to go on where a header is missing, and to keep the bodies of what comes from there.
KEEP_GOING = 0x200
#: For a translation unit that others start from.
FOR_REUSE = 0x02 | 0x04
RECURSE = 2


class Unavailable(Exception):
    """There is no libclang, or none that can be used. The message says what would mend it."""


class Library:
    """The functions by their names without `clang_`, and what is made of several of them."""

    def __init__(self, path: str) -> None:
        try:
            library = ctypes.CDLL(path)
            for name, (result, arguments) in _SIGNATURES.items():
                function = getattr(library, f"clang_{name}")
                function.restype, function.argtypes = result, arguments
                setattr(self, name, function)
        except (OSError, AttributeError) as error:
            raise Unavailable(f"{path} can't be used: {error}") from None
        version = self.text(self.getClangVersion())
        found = re.search(r"version (\d+)", version)
        if found is not None and int(found[1]) < _FLOOR:
            raise Unavailable(f"{path} is too old: {version}, and {_FLOOR} is needed")

    def text(self, string: Any) -> str:
        found = self.getCString(string)
        self.disposeString(string)
        return (found or b"").decode("utf-8", "replace")

    def parse(
        self, index: Any, name: str, arguments: list[str], files: dict[str, bytes], options: int = KEEP_GOING
    ) -> Any:
        """A translation unit, to be disposed of; None where libclang gave up."""
        argv = (ctypes.c_char_p * len(arguments))(*(argument.encode() for argument in arguments))
        unsaved = (_Unsaved * len(files))(*((path.encode(), text, len(text)) for path, text in files.items()))
        unit = ctypes.c_void_p()
        failed = self.parseTranslationUnit2(
            index, name.encode(), argv, len(arguments), unsaved, len(files), options, ctypes.byref(unit)
        )
        return None if failed or not unit.value else unit

    def problems(self, unit: Any, most: int = 256) -> Iterator[tuple[str, Location]]:
        """What clang finds wrong with a text, and where."""
        for number in range(min(self.getNumDiagnostics(unit), most)):
            problem = self.getDiagnostic(unit, number)
            yield self.text(self.getDiagnosticSpelling(problem)), self.getDiagnosticLocation(problem)
            self.disposeDiagnostic(problem)

    def visit(self, cursor: Cursor, visitor: Callable[[Cursor, Cursor], int]) -> None:
        """An exception in `visitor` ends the visit and is raised here."""
        errors: list[BaseException] = []

        def call(inner: Cursor, parent: Cursor, data: Any) -> int:
            try:
                return visitor(inner, parent)
            except BaseException as error:
                errors.append(error)
                return 0

        self.visitChildren(cursor, _Visitor(call), None)
        if errors:
            raise errors[0]


def candidates() -> Iterator[str]:
    """Where libclang may be: the wheel of this interpreter, then the system's."""
    name = {"darwin": "libclang.dylib", "win32": "libclang.dll"}.get(sys.platform, "libclang.so")
    spec = importlib.util.find_spec("clang")
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        path = os.path.join(folder, "native", name)
        if os.path.exists(path):
            yield path
    for word in ("clang", *(f"clang-{number}" for number in range(24, 17, -1))):
        found = ctypes.util.find_library(word)
        if found:
            yield found


@functools.cache
def library() -> Library:
    """Raises `Unavailable`."""
    problem = f"libclang is not installed in {sys.executable}"
    for path in candidates():
        try:
            return Library(path)
        except Unavailable as error:
            problem = str(error)
    raise Unavailable(problem)

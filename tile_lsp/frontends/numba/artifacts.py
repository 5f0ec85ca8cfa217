"""Blobs of the recipe to artifacts: which reader reads what, and places for the numbers that stand for them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence

import msgspec

from tile_lsp.analysis import cubin, disassembly, linetable, mlir, ptx, ptx_text, resources, sass, sources
from tile_lsp.analysis.cubin import Cubin, Function
from tile_lsp.analysis.disassembly import BYTES
from tile_lsp.frontends import llvm
from tile_lsp.model.location import Chain, Place
from tile_lsp.model.outcome import Artifact
from tile_lsp.model.stage import Stage

#: Where a function is defined, or listed: in LLVM IR, PTX, SASS and the table of resources.
_DEFINED = re.compile(
    r"(?:^define [^@\n]*@\"?|^\.(?:visible \.)?(?:entry|func) (?:\([^)]*\) )?|^\s*\.global |^|func @)(_Z[N\d]\w+)", re.M
)
_SYMBOL = re.compile(r"\b_Z[N\d]\w+")
#: What can't be in a symbol stands there by the hexadecimal numbers of its bytes: `<`, `>`, and letters beyond ASCII. A
#: name's own underscore may be followed by such digits too, as in `vector_add`.
_ESCAPED = re.compile(r"_3[ce]|(?:_(?:c[2-9a-f]|d[0-9a-f]|e[0-9a-f]|f[0-4])(?:_[89ab][0-9a-f])+)")
_LENGTH = re.compile(r"\d+")


def read(stage: Stage, blobs: Mapping[str, bytes]) -> Artifact:
    """A stage's artifact from the blobs that the recipe names for it. Raises `ValueError` for what can't be read."""
    return _readable(_read(stage, blobs))


def _read(stage: Stage, blobs: Mapping[str, bytes]) -> Artifact:
    match stage:
        case Stage.LLVM | Stage.LLVM_REMARKS | Stage.PTX_LLVM:
            places = _Places(blobs["llvm-places"])
            return llvm.read(stage, blobs, lambda chain: places.chain([place.line for place in chain]))
        case Stage.MLIR:
            return _Places(blobs["places"]).into(mlir.read(stage, _text(blobs["mlir"])))
        case Stage.PTX:
            return _ptx(blobs, _Places(blobs["places"]))
        case Stage.SASS:
            found = cubin.read(blobs["cubin"])
            texts = disassembly.decode(blobs["disassembly"], found)
            if not blobs["lined"]:
                return sass.read(found, texts)
            return sass.read(found, texts, sources=_Lined(found, cubin.read(blobs["lined"]), _Places(blobs["places"])))
        case Stage.RESOURCES:
            return resources.read(cubin.read(blobs["cubin"]))
        case Stage.CUBIN:
            found = cubin.read(blobs["cubin"])
            names = ", ".join(function.name for function in found.functions)
            return Artifact(Stage.CUBIN, f"{found.arch}: {names}; {len(blobs['cubin'])} bytes", data=blobs["cubin"])
        case _:
            raise ValueError(f"{stage} is inference's own")


def _ptx(blobs: Mapping[str, bytes], places: _Places) -> Artifact:
    if blobs["ptx"]:
        return places.into(ptx_text.read(_text(blobs["ptx"])))
    lined = cubin.read(blobs["lined"])
    found = ptx.read(lined, sources=_Lined(lined, lined, places))
    # Strings of the debug information follow the code.
    text = found.text.partition("\n.section\t")[0].rstrip("\n") + "\n"
    return msgspec.structs.replace(found, text=text, lines=found.lines[: text.count("\n")])


def _readable(artifact: Artifact) -> Artifact:
    """Functions by their own names: Numba's symbols hold all types of all arguments, some hundred letters of them."""
    if artifact.stage is Stage.LLVM_REMARKS:
        remarks = tuple(
            msgspec.structs.replace(remark, message=_SYMBOL.sub(lambda match: _own_name(match[0]), remark.message))
            for remark in artifact.remarks
        )
        text = "".join(f"{remark.message}\n" for remark in remarks)
        return msgspec.structs.replace(artifact, text=text, remarks=remarks)
    names: dict[str, str] = {}
    for symbol in sorted({match[1] for match in _DEFINED.finditer(artifact.text)}):
        short = _own_name(symbol)
        if short in names.values():
            short = f"{short}.{sum(name.split('.')[0] == short for name in names.values()) + 1}"
        names[symbol] = short
    text = artifact.text
    for symbol in sorted(names, key=len, reverse=True):
        text = text.replace(symbol, names[symbol])
    return msgspec.structs.replace(artifact, text=text)


def _own_name(symbol: str) -> str:
    """The last part of a nested name: `_ZN5saxpy5saxpyB2v1…` → `saxpy`. What is no name of Python's stays a letter."""
    nested = symbol.startswith("_ZN")
    at, name = len("_ZN") if nested else len("_Z"), symbol
    while (length := _LENGTH.match(symbol, at)) is not None:
        start = length.end()
        at = start + int(length[0])
        name = symbol[start:at]
        if not nested:
            break
    return _ESCAPED.sub("_", name)


class _Places:
    """The table that lines of debug information are numbers of. Raises `ValueError` if it is none."""

    def __init__(self, blob: bytes) -> None:
        try:
            self._table = msgspec.json.decode(blob, type=tuple[Place | None, ...])
        except msgspec.MsgspecError as error:
            raise ValueError(f"the table of places is damaged: {error}") from error

    def chain(self, numbers: Sequence[int]) -> Chain:
        """Innermost first. What is no place of the closure (a library's own code) is left out."""
        table = self._table
        return tuple(place for n in numbers if 0 < n <= len(table) and (place := table[n - 1]) is not None)

    def into(self, artifact: Artifact) -> Artifact:
        lines = tuple(
            tuple(found for chain in row if (found := self.chain([place.line for place in chain])))
            for row in artifact.lines
        )
        return msgspec.structs.replace(artifact, lines=lines)


class _Lined(sources.Sources):
    """SASS address → source, by the line table of the same kernel compiled with one.

    Where its code is not the same after all, instructions go by the order of their opcodes.
    """

    def __init__(self, plain: Cubin, lined: Cubin, places: _Places) -> None:
        super().__init__(plain)
        self._places = places
        self._rows = linetable.read(lined, linetable.SOURCE)
        others = {function.name: function for function in lined.functions}
        self._other: dict[int, tuple[int, Mapping[int, int] | None]] = {}
        for function in plain.functions:
            other = others.get(function.name)
            if other is not None:
                same = other.code == function.code
                self._other[function.section] = (other.section, None if same else matching(function, other))

    def chain(self, section: int, address: int) -> Chain:
        if section not in self._other:
            return ()
        other, addresses = self._other[section]
        if addresses is not None:
            if address not in addresses:
                return ()
            address = addresses[address]
        frames = self._rows.get(other, linetable.EMPTY).at(address)
        return self._places.chain([frame.line for frame in frames])


def matching(one: Function, other: Function) -> dict[int, int]:
    """Addresses of the instructions that two versions have in common."""
    matcher = difflib.SequenceMatcher(None, _opcodes(one.code), _opcodes(other.code), autojunk=False)
    return {(a + i) * BYTES: (b + i) * BYTES for a, b, size in matcher.get_matching_blocks() for i in range(size)}


def _opcodes(code: bytes) -> list[int]:
    return [int.from_bytes(code[at : at + 2], "little") & 0xFFF for at in range(0, len(code), BYTES)]


def _text(blob: bytes) -> str:
    return blob.decode("utf-8", "replace")

"""Semantic tokens of a served document: comments, labels, opcodes, types, registers, numbers."""

from __future__ import annotations

import re

import msgspec

from tile_lsp.ide.documents import Document
from tile_lsp.model.stage import Stage


class Token(msgspec.Struct, frozen=True):
    line: int
    """0-based."""
    column: int
    """In characters of the row."""
    length: int
    type: str
    """One of `stages.TOKEN_TYPES`."""


def _grammar(**rules: str) -> re.Pattern[str]:
    """One alternative a token type; the first that matches at a place wins. A trailing digit makes a second rule."""
    return re.compile("|".join(f"(?P<{name}>{rule})" for name, rule in rules.items()))


_SASS = _grammar(
    comment=r"//.*|/\* .*? \*/|\(\*.*?\*\)|/\*[0-9a-f]{4,}\*/",
    label=r"^[\w.$]+:|`?\(?\.L_x_\d+\)?",
    keyword=r"^\s*\.(?:target|global|type)\b|@!?U?P(?:\d+|T)\b",
    variable=r"\b(?:U?R(?:\d+|Z)|U?P(?:\d|T)|SR_[\w.]+|B\d+|UB\d+)(?:\.[\w.]+)?",
    number=r"-?\b0x[0-9a-f]+\b|-?\b\d+(?:\.\d+)?(?:e[+-]?\d+)?\b|[+-]INF\b|[+-]QNAN\b",
    function=r"(?<![\w.\]\[(,])\b[A-Z][A-Z0-9_]*(?:\.[A-Za-z0-9_]+)*(?=[\s;])",
    type=r"\bdesc\b|\bc(?=\[)",
)
_PTX = _grammar(
    comment=r"//.*",
    string=r'"[^"]*"',
    label=r"^\$?[\w$]+:|\$L_\w+",
    type=r"\.(?:[busf]\d+(?:x\d)?|bf16(?:x2)?|tf32|pred|e\dm\d(?:x2)?)\b",
    keyword=(
        r"^\s*\.(?:version|target|address_size|visible|entry|func|reg|param|shared|global|const|local|align|maxntid"
        r"|minnctapersm|reqntid|file|section|loc|pragma|extern|weak)\b|@!?%p\d+|\.(?:entry|param|align|reg)\b"
    ),
    variable=r"%[\w$.]+",
    number=r"\b0[xfd][0-9A-Fa-f]+\b|-?\b\d+(?:\.\d+)?\b",
    function=r"(?<![\w.%])\b[a-z][a-z0-9_]*(?:\.[\w:]+)*(?=[\s;])",
)
_AMDGCN = _grammar(
    comment=r";.*|//.*",
    string=r'"[^"]*"',
    label=r"^[\w.$]+:|\.L\w+",
    keyword=r"^\s*\.\w+",
    function=r"(?<![\w.:])(?:s|v|ds|global|buffer|flat|scratch|tensor)_[a-z]\w*",
    variable=r"(?<![\w.])(?:[sva](?:\d+|\[\d+:\d+\])|ttmp\d+|(?:vcc|exec)(?:_lo|_hi)?|scc|m0|null|flat_scratch)(?![\w.])",
    type=r"(?<![\w.])[a-z]\w*(?=[:(])|(?<=:)[A-Z][A-Z_]+\w*|(?<![\w.])(?:off|offen|idxen|lds|nt|sc[01]|glc|slc|clamp)(?![\w.])",
    number=r"-?\b0x[0-9a-f]+\b|-?\b\d+(?:\.\d+)?\b",
)
_MLIR = _grammar(
    comment=r"//.*",
    string=r'"(?:[^"\\]|\\.)*"',
    label=r"\^bb\d+|@[\w$.]+",
    type=r"!?\b(?:tile|ptr|tensor|memref|vector|token|tensor_view|partition_view)\b(?=[<\s,)]|$)|\b(?:[iu]\d+|b?f\d+|index)\b"
    r"|\bb?f\d+\b",
    variable=r"%[\w$.#]+|#[\w$.]+",
    number=r"-?\b\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\b|\b0x[0-9A-Fa-f]+\b",
    function=r"(?<==\s)[a-z_][\w]*(?:\.[\w.]+)?|^\s*[a-z_]\w*(?:\.[\w.]+)?(?=[\s(])",
    keyword=r"\b(?:true|false|dense|loc|attributes|module|entry|to|step|in|iter_values)\b",
)
_TYPED = _grammar(
    comment=r"//.*",
    string=r'"[^"]*"|\'[^\']*\'',
    variable=r"\$[\w.]+|%[\w.]+|\b[A-Za-z_]\w*\.\d+\b",
    type=r"\b(?:Tile|Array|List|Tuple|Pointer)\[(?:[^\[\]]|\[[^\[\]]*\])*\]|\bToken\b|\b(?:b?float\d+|u?int\d+|bool_?)\b",
    function=r"\b[a-z_]\w*(?=\()",
    number=r"-?\b\d+(?:\.\d+)?\b",
)
_TYPES = _grammar(
    comment=r"//.*", number=r"^(?:[^:\s]+:)?\d+:\d+", type=r"(?<=: ).*?(?=$|  ←)", variable=r"(?<=\d )\w+(?=:)"
)

_GRAMMARS = {
    Stage.SASS: _SASS,
    Stage.PTX: _PTX,
    Stage.PTX_LLVM: _PTX,
    Stage.AMDGCN: _AMDGCN,
    Stage.TILEIR: _MLIR,
    Stage.MLIR: _MLIR,
    Stage.TTIR: _MLIR,
    Stage.TTGIR: _MLIR,
    Stage.LLVM: _MLIR,
    Stage.TYPED: _TYPED,
    Stage.HIR: _TYPED,
    Stage.TYPES: _TYPES,
}
_ONE_OPCODE = frozenset({Stage.SASS, Stage.PTX, Stage.PTX_LLVM})
"""A line is one instruction: what looks like an opcode after the first is an operand."""


def semantic_tokens(document: Document, first: int = 0, last: int | None = None) -> tuple[Token, ...]:
    """Tokens of the lines `first` to `last` (0-based, inclusive), in order."""
    grammar = _GRAMMARS.get(document.stage)
    if grammar is None:
        return ()
    tokens = []
    for line in range(first, len(document.rows) if last is None else min(last + 1, len(document.rows))):
        has_opcode = False
        for match in grammar.finditer(document.rows[line]):
            text = match[0]
            if match.lastgroup == "function" and document.stage in _ONE_OPCODE:
                if has_opcode:
                    continue
                has_opcode = True
            start = match.start() + len(text) - len(text.lstrip())
            if match.end() > start and match.lastgroup is not None:
                tokens.append(Token(line, start, match.end() - start, match.lastgroup))
    return tuple(tokens)

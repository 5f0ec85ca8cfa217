"""Type records of clang's by the names of their fields, those that say nothing left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tile_lsp.model.outcome import TypeRecord
from tile_lsp.worker.drivers.cuda import clang_types


def type_records(source: str, name: str, options: Sequence[str]) -> list[dict[str, Any]]:
    records = (
        zip(TypeRecord.__struct_fields__, record, strict=False)
        for record in clang_types.type_records(source, name, options)
    )
    return [{field: value for field, value in record if value is not None} for record in records]

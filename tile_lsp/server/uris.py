"""URIs: those of files, and those of served documents (`tile:`)."""

from __future__ import annotations

import base64
import binascii
import os
import re
from urllib.parse import quote, unquote

import msgspec

from tile_lsp.ide.stages import FORMATS
from tile_lsp.model.stage import Stage

SCHEME = "tile"
_DRIVE = re.compile(r"/[A-Za-z]:")


def to_path(uri: str) -> str | None:
    """The path that a `file:` URI names, as the client spells it; None for every other scheme."""
    scheme, colon, rest = uri.partition(":")
    if not colon or scheme.lower() != "file":
        return None
    rest = re.split("[?#]", rest, maxsplit=1)[0]
    host = ""
    if rest.startswith("//"):
        host, slash, rest = rest[2:].partition("/")
        rest = slash + rest
    path = unquote(rest, errors="surrogateescape")
    if not path.startswith("/") or "\0" in path:
        return None
    if os.name == "nt":
        path = path[1:] if _DRIVE.match(path) else f"//{host}{path}" if host else path
        return os.path.normpath(path)
    return path


def from_path(path: str) -> str:
    """The `file:` URI of an absolute path."""
    if os.name == "nt":
        path = path.replace("\\", "/")
        path = path if path.startswith("/") else f"/{path}"
    return "file://" + quote(os.fsencode(path), safe="/")


class Address(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a served document shows: a stage of a kernel, for the active job, or for the one that it is pinned to."""

    path: str
    kernel: str
    stage: Stage
    job: str | None = None
    """Token of the job that the view is pinned to."""

    @property
    def name(self) -> str:
        """`"matmul.nvsass"`."""
        return f"{self.kernel.rsplit('.', 1)[-1]}.{FORMATS[self.stage].extension}"


class _Query(msgspec.Struct, frozen=True, omit_defaults=True):
    path: bytes
    """As the file system has it: a name need not be text."""
    kernel: str
    stage: Stage
    job: str | None = None


def to_tile_uri(address: Address) -> str:
    """`tile:/sass/matmul.nvsass?…`: the path is for people, the query says which document it is.

    Clients decode and encode queries as they like, so this one has no character that either would touch.
    """
    query = _Query(os.fsencode(address.path), address.kernel, address.stage, address.job)
    word = base64.urlsafe_b64encode(msgspec.json.encode(query)).decode().rstrip("=")
    return f"{SCHEME}:/{address.stage.value}/{quote(address.name)}?{word}"


def from_tile_uri(uri: str) -> Address | None:
    """The address in a `tile:` URI, or None for anything that `to_tile_uri` did not make."""
    scheme, _, rest = uri.partition(":")
    if scheme.lower() != SCHEME:
        return None
    word = rest.partition("?")[2].partition("#")[0]
    try:
        query = msgspec.json.decode(base64.urlsafe_b64decode(word + "=" * (-len(word) % 4)), type=_Query)
    except (binascii.Error, ValueError, msgspec.MsgspecError):
        return None
    if query.stage not in FORMATS:
        return None
    return Address(os.fsdecode(query.path), query.kernel, query.stage, query.job)

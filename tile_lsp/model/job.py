"""The job: one value that names a compilation everywhere.

A job is immutable, hashable and compared by structure, and round-trips through JSON, a URI and a command-line argument.
It holds no position and no path: moving a kernel, or editing a comment, leaves its jobs equal.
"""

from __future__ import annotations

import base64
import hashlib
import zlib

import msgspec

Scalar = int | float | bool | str | None


class Argument(msgspec.Struct, frozen=True, array_like=True):
    """One kernel argument in its front end's notation: `Argument("A", "f16[4096,4096]")`, `Argument("tm", "128")`."""

    name: str
    spec: str


class Config(msgspec.Struct, frozen=True, omit_defaults=True):
    """Target, hints and symbol name: what steers code generation only, never inference.

    A hint that is absent defers to the kernel's own options; one that is set to the default value is another config.
    """

    target: str | None = None
    hints: tuple[tuple[str, Scalar], ...] = ()
    symbol: str | None = None


class Job(msgspec.Struct, frozen=True, omit_defaults=True):
    """Front end + kernel's function version + arguments + config + toolchain fingerprint."""

    frontend: str
    kernel: str
    version: str
    arguments: tuple[Argument, ...] = ()
    config: Config = Config()
    toolchain: str = ""

    @property
    def key(self) -> str:
        """Digest of the whole job (hex, 64 digits)."""
        return digest(self)

    def to_json(self) -> str:
        return msgspec.json.encode(self, order="deterministic").decode()

    @classmethod
    def from_json(cls, text: str | bytes) -> Job:
        """Raises `msgspec.ValidationError` or `msgspec.DecodeError` for anything that is not a job."""
        return msgspec.json.decode(text, type=cls)

    def to_token(self) -> str:
        """The job as one word of URL-safe characters: for URIs and as a command-line argument."""
        packed = zlib.compress(self.to_json().encode(), 9)
        return base64.urlsafe_b64encode(packed).decode().rstrip("=")

    @classmethod
    def from_token(cls, token: str) -> Job:
        """Raises `ValueError` for anything that `to_token` did not make."""
        try:
            packed = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
            return cls.from_json(zlib.decompress(packed))
        except (ValueError, zlib.error, msgspec.MsgspecError) as error:
            raise ValueError(f"not a job: {token[:40]!r}") from error


def digest(*fields: object) -> str:
    """Digest of a sequence of JSON-able values (hex, 64 digits), injective in the sequence."""
    return hashlib.sha256(msgspec.json.encode(fields, order="deterministic")).hexdigest()

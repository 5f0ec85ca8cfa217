"""What the client can do and wants: the part of `initialize` that we read. The rest is passed over, right or wrong."""

from __future__ import annotations

from typing import Any

import msgspec

from .text import UTF8, UTF16, UTF32


class _Camel(msgspec.Struct, frozen=True, rename="camel"):
    pass


class WorkspaceFolder(_Camel, frozen=True):
    uri: str
    name: str = ""


class InitializeParams(_Camel, frozen=True):
    process_id: int | None = None
    root_uri: str | None = None
    root_path: str | None = None
    workspace_folders: tuple[WorkspaceFolder, ...] | None = None
    capabilities: dict[str, Any] = {}
    initialization_options: Any = None
    client_info: Any = None


class Options(_Camel, frozen=True):
    """`initializationOptions`."""

    trusted: bool = True
    """False: nothing of the workspace is executed."""
    documents: str | None = None
    """`content` for a client that opens `tile:` documents by itself, `file` for one that must not be given them."""
    status: bool = False
    """Send `tile/statusChanged`."""
    settings: dict[str, Any] = {}
    """As `workspace/configuration` would give them, for clients that have none."""


class Client(msgspec.Struct, frozen=True):
    """Capabilities as plain answers."""

    encoding: str = UTF16
    markdown: bool = True
    content: bool = False
    """Opens `tile:` documents."""
    show_document: bool = False
    work_done_progress: bool = False
    configuration: bool = False
    settings_registration: bool = False
    """Tells of changed settings only who registered for them."""
    watched_files: bool = False
    relative_patterns: bool = False
    pull_diagnostics: bool = False
    """Only where it can be told to pull again: else what is compiled later would never be seen."""
    related_information: bool = False
    inlay_hint_refresh: bool = False
    code_lens_refresh: bool = False
    semantic_tokens_refresh: bool = False
    code_action_literals: bool = False
    message_actions: bool = False
    location_links: bool = False
    hierarchical_symbols: bool = False

    @classmethod
    def of(cls, capabilities: object, options: Options) -> Client:
        def has(*path: str) -> bool:
            return bool(_get(capabilities, *path))

        formats = _get(capabilities, "textDocument", "hover", "contentFormat")
        content = has("workspace", "textDocumentContent") or options.documents == "content"
        return cls(
            encoding=_encoding(_get(capabilities, "general", "positionEncodings")),
            markdown=not isinstance(formats, list) or not formats or "markdown" in formats,
            content=content and options.documents != "file",
            show_document=has("window", "showDocument", "support"),
            work_done_progress=has("window", "workDoneProgress"),
            configuration=has("workspace", "configuration"),
            settings_registration=has("workspace", "didChangeConfiguration", "dynamicRegistration"),
            watched_files=has("workspace", "didChangeWatchedFiles", "dynamicRegistration"),
            relative_patterns=has("workspace", "didChangeWatchedFiles", "relativePatternSupport"),
            pull_diagnostics=has("textDocument", "diagnostic") and has("workspace", "diagnostics", "refreshSupport"),
            related_information=has("textDocument", "publishDiagnostics", "relatedInformation"),
            inlay_hint_refresh=has("workspace", "inlayHint", "refreshSupport"),
            code_lens_refresh=has("workspace", "codeLens", "refreshSupport"),
            semantic_tokens_refresh=has("workspace", "semanticTokens", "refreshSupport"),
            code_action_literals=_get(capabilities, "textDocument", "codeAction", "codeActionLiteralSupport")
            is not None,
            message_actions=has("window", "showMessage"),
            location_links=has("textDocument", "definition", "linkSupport"),
            hierarchical_symbols=has("textDocument", "documentSymbol", "hierarchicalDocumentSymbolSupport"),
        )


def read_options(value: object) -> tuple[Options, str | None]:
    """Options, and what is wrong with those given, if anything is: then only `trusted` is taken from them."""
    if value is None:
        return Options(), None
    try:
        return msgspec.convert(value, Options), None
    except msgspec.ValidationError as error:
        return Options(trusted=_get(value, "trusted") is True), f"initializationOptions: {error}"


def _get(value: object, *path: str) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _encoding(wanted: object) -> str:
    """The client's first choice among those we know."""
    known = [encoding for encoding in wanted if encoding in (UTF8, UTF16, UTF32)] if isinstance(wanted, list) else []
    return known[0] if known else UTF16

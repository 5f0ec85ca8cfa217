"""What the server says of itself."""

from __future__ import annotations

from tile_lsp.ide.stages import FORMATS, TOKEN_TYPES

from .client import Client
from .lsp import types
from .requests import REQUESTS
from .uris import SCHEME

DIAGNOSTICS = "tile-lsp"
"""Identifier of our diagnostics, and their source."""
KINDS = (
    "quickfix",
    "source.tile",
    *(f"source.tile.{stage.value}" for stage in FORMATS),
    "source.tile.pin",
    "source.tile.select",
    "source.tile.commandLine",
    "source.tile.settings",
)


COMMANDS = ("tile.show", "tile.pin", "tile.selectJob", "tile.copyCommandLine", "tile.openSettings", "tile.retry")


def capabilities(client: Client) -> types.ServerCapabilities:
    diagnostics = types.DiagnosticOptions(
        identifier=DIAGNOSTICS, inter_file_dependencies=True, workspace_diagnostics=False
    )
    return types.ServerCapabilities(
        position_encoding=client.encoding,
        text_document_sync=types.TextDocumentSyncOptions(
            open_close=True, change=types.TextDocumentSyncKind.Incremental, save=False
        ),
        notebook_document_sync=types.NotebookDocumentSyncOptions(
            notebook_selector=[
                types.NotebookDocumentFilterWithNotebook(
                    notebook="*", cells=[types.NotebookCellLanguage(language="python")]
                )
            ],
            save=False,
        ),
        hover_provider=True,
        inlay_hint_provider=types.InlayHintOptions(resolve_provider=True),
        code_lens_provider=types.CodeLensOptions(resolve_provider=True),
        code_action_provider=types.CodeActionOptions(code_action_kinds=list(KINDS)),
        diagnostic_provider=diagnostics if client.pull_diagnostics else None,
        execute_command_provider=types.ExecuteCommandOptions(commands=list(COMMANDS), work_done_progress=True),
        definition_provider=True,
        implementation_provider=True,
        references_provider=True,
        document_highlight_provider=True,
        document_symbol_provider=True,
        folding_range_provider=True,
        semantic_tokens_provider=types.SemanticTokensOptions(
            legend=types.SemanticTokensLegend(token_types=list(TOKEN_TYPES), token_modifiers=[]), full=True, range=True
        ),
        workspace=types.WorkspaceOptions(
            workspace_folders=types.WorkspaceFoldersServerCapabilities(supported=True, change_notifications=True),
            text_document_content=types.TextDocumentContentOptions(schemes=[SCHEME]) if client.content else None,
        ),
        experimental={"tile": {"requests": sorted(REQUESTS), "scheme": SCHEME}},
    )

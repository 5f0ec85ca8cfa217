"""textDocument/codeAction."""

from __future__ import annotations

from tile_lsp.ide.code_actions import CodeAction, Command, code_actions
from tile_lsp.server.lsp import types
from tile_lsp.server.server import TileServer


def register(server: TileServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION)
    async def text_document_code_action(
        params: types.CodeActionParams,
    ) -> list[types.CodeAction | types.Command] | None:
        uri = params.text_document.uri
        path = server.path(uri)
        if path is None:
            return None
        await server.analysed(path)
        first, last = server.lines(uri, params.range)
        server.look(path, first, last)
        only = params.context.only
        return [
            translated
            for action in code_actions(server.snapshot, path, first, last)
            if _wanted(action.kind, only) and (translated := _action(server, action)) is not None
        ]


def _wanted(kind: str, only: object) -> bool:
    """LSP's rule: a wanted kind wants its sub-kinds too."""
    if not only:
        return True
    wanted = [str(getattr(item, "value", item)) for item in only]  # type: ignore[attr-defined]
    return any(kind == item or kind.startswith(f"{item}.") or not item for item in wanted)


def _action(server: TileServer, action: CodeAction) -> types.CodeAction | types.Command | None:
    command = _command(server, action.title, action.command) if action.command else None
    if not server.client.code_action_literals:
        return command  # such a client knows commands only
    edit = None
    if action.edit is not None:
        change = types.TextEdit(range=server.range(action.edit.path, action.edit.span), new_text=action.edit.text)
        edit = types.WorkspaceEdit(changes={server.uri(action.edit.path, action.edit.span.line): [change]})
    return types.CodeAction(title=action.title, kind=action.kind, command=command, edit=edit)


def _command(server: TileServer, title: str, command: Command) -> types.Command:
    argument = {"uri": server.uri(command.path), "kernel": command.kernel}
    if command.stage is not None:
        argument["stage"] = command.stage.value
    return types.Command(title=title, command=command.name, arguments=[argument])

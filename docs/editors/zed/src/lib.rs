//! Starts `tile-lsp` for Python files in Zed, and hands it the settings under `lsp.tile-lsp.settings`.

use zed_extension_api::serde_json::{json, Value};
use zed_extension_api::settings::LspSettings;
use zed_extension_api::{self as zed, LanguageServerId, Result, Worktree};

struct TileLsp;

impl zed::Extension for TileLsp {
    fn new() -> Self {
        TileLsp
    }

    fn language_server_command(&mut self, server: &LanguageServerId, worktree: &Worktree) -> Result<zed::Command> {
        let named = LspSettings::for_worktree(server.as_ref(), worktree)?.binary.and_then(|binary| binary.path);
        let command = named
            .or_else(|| worktree.which("tile-lsp"))
            .ok_or("tile-lsp is not on PATH: install it with pip, or set lsp.tile-lsp.binary.path")?;
        Ok(zed::Command { command, args: vec!["--stdio".into()], env: worktree.shell_env() })
    }

    fn language_server_workspace_configuration(
        &mut self,
        server: &LanguageServerId,
        worktree: &Worktree,
    ) -> Result<Option<Value>> {
        let settings = LspSettings::for_worktree(server.as_ref(), worktree)?.settings;
        Ok(settings.map(|settings| json!({ "tile-lsp": settings })))
    }
}

zed::register_extension!(TileLsp);

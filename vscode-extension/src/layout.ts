// Show Thread Map: which thread holds which element of the value under the cursor, as a picture beside the text.
import { commands, type Disposable, ViewColumn, type WebviewPanel, window } from "vscode";
import { layoutPage } from "./layoutPage";
import { ask } from "./requests";
import type { Server } from "./server";

export class ThreadMaps implements Disposable {
  private panel: WebviewPanel | undefined;
  private readonly command = commands.registerCommand("tile-lsp.showThreadMap", () => this.show());

  constructor(private readonly server: Server) {}

  private async show(): Promise<void> {
    const editor = window.activeTextEditor;
    if (!editor) return;
    const { line, character } = editor.selection.active;
    const result = await ask(this.server, "tile/layout", {
      textDocument: { uri: editor.document.uri.toString() },
      position: { line, character },
    });
    if (!result) return;
    if (!result.layouts.length) {
      window.showInformationMessage(`There is no thread map here: ${result.problem}.`);
      return;
    }
    this.panel ??= this.open();
    this.panel.title = `Thread Map: ${result.title}`;
    this.panel.webview.html = layoutPage(result);
    this.panel.reveal(undefined, true);
  }

  private open(): WebviewPanel {
    const where = { viewColumn: ViewColumn.Beside, preserveFocus: true };
    const panel = window.createWebviewPanel("tile-lsp.threadMap", "Thread Map", where, { enableScripts: false });
    panel.onDidDispose(() => {
      this.panel = undefined;
    });
    return panel;
  }

  dispose(): void {
    this.command.dispose();
    this.panel?.dispose();
  }
}

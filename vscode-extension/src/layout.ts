// Show Thread Map: which thread holds which element of the value under the cursor, as a picture beside the text, which follows the
// kernel's edits.
import {
  commands,
  type Disposable,
  type TextDocumentChangeEvent,
  type Uri,
  ViewColumn,
  type WebviewPanel,
  window,
  workspace,
} from "vscode";
import { layoutPage } from "./layoutPage";
import { moved } from "./moved";
import type { LayoutParams, LayoutResult } from "./protocol";
import { ask, demand } from "./requests";
import type { Server } from "./server";
import { lacking } from "./tell";

/** Milliseconds after a kernel changed before its picture is drawn anew. */
const QUIET = 300;

export class ThreadMaps implements Disposable {
  private panel: WebviewPanel | undefined;
  /** What is asked for; its position moves with the text. */
  private asked: LayoutParams | undefined;
  /** The last that had pictures. */
  private drawn: LayoutResult | undefined;
  private timer: NodeJS.Timeout | undefined;
  private late = false;
  private readonly disposables: Disposable[];

  constructor(private readonly server: Server) {
    this.disposables = [
      commands.registerCommand("tile-lsp.showThreadMap", () => this.show()),
      server.onDidChangeKernels((uri) => this.kernelsChanged(uri)),
      workspace.onDidChangeTextDocument((event) => this.textChanged(event)),
    ];
  }

  private async show(): Promise<void> {
    const editor = window.activeTextEditor;
    if (!editor) {
      lacking("A thread map is of what is at the cursor: put it on a name in a kernel of Triton, or into its TTGIR.");
      return;
    }
    const { line, character } = editor.selection.active;
    const params = { textDocument: { uri: editor.document.uri.toString() }, position: { line, character } };
    const result = await demand(this.server, "tile/layout", params);
    if (!result) return;
    if (!result.layouts.length) {
      window.showInformationMessage(`There is no thread map here: ${result.problem}.`);
      return;
    }
    this.asked = params;
    this.draw(result);
    this.panel?.reveal(undefined, true);
  }

  private draw(result: LayoutResult): void {
    const panel = this.panel ?? this.open();
    this.panel = panel;
    if (result.layouts.length) this.drawn = result;
    const old = result.layouts.length ? undefined : this.drawn;
    panel.title = `Thread Map: ${(old ?? result).title}`;
    panel.webview.html = layoutPage(old ?? result, old ? result.problem : "");
  }

  private open(): WebviewPanel {
    const where = { viewColumn: ViewColumn.Beside, preserveFocus: true };
    const panel = window.createWebviewPanel("tile-lsp.threadMap", "Thread Map", where, { enableScripts: false });
    panel.onDidChangeViewState(() => {
      if (panel.visible && this.late) this.again();
    });
    panel.onDidDispose(() => {
      this.panel = undefined;
      this.asked = undefined;
      this.drawn = undefined;
    });
    return panel;
  }

  private textChanged({ document, contentChanges }: TextDocumentChangeEvent): void {
    const asked = this.asked;
    if (!asked || document.uri.toString() !== asked.textDocument.uri) return;
    this.asked = { ...asked, position: contentChanges.reduce(moved, asked.position) };
  }

  private kernelsChanged(uri: Uri): void {
    if (uri.toString() !== this.asked?.textDocument.uri) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.again(), QUIET);
  }

  /** Nobody compiles for a picture that is not seen. */
  private async again(): Promise<void> {
    const { asked, panel } = this;
    if (!asked || !panel) return;
    this.late = !panel.visible;
    if (this.late) return;
    const result = await ask(this.server, "tile/layout", asked);
    if (result && this.asked === asked) this.draw(result);
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.panel?.dispose();
    for (const disposable of this.disposables) disposable.dispose();
  }
}

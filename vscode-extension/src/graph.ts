// Show Control-Flow Graph: the blocks of a kernel's machine code or LLVM IR as a picture, each linked with its source and its listing.
import { randomBytes } from "node:crypto";
import {
  commands,
  type Disposable,
  Range,
  Selection,
  type TextEditor,
  TextEditorRevealType,
  Uri,
  ViewColumn,
  type WebviewPanel,
  window,
  workspace,
} from "vscode";
import { graphPage } from "./graphPage";
import type { Kernels } from "./kernels";
import type { Listings } from "./listings";
import type { GraphBlock, GraphParams, GraphResult, Location } from "./protocol";
import { ask, demand } from "./requests";
import type { Server } from "./server";
import { lacking } from "./tell";

/** Stages that have a graph, and their names for people. */
const STAGES: Record<string, string> = { sass: "SASS", amdgcn: "AMDGCN", llvm: "LLVM IR" };

/** Milliseconds after a kernel changed before its graph is drawn anew. */
const QUIET = 300;

interface Message {
  readonly ready?: true;
  readonly block?: string;
  readonly listing?: boolean;
}

export class Graphs implements Disposable {
  private panel: WebviewPanel | undefined;
  private shown: GraphParams | undefined;
  private result: GraphResult | undefined;
  private svg = "";
  private timer: NodeJS.Timeout | undefined;
  private readonly disposables: Disposable[];

  constructor(
    private readonly server: Server,
    private readonly kernels: Kernels,
    private readonly listings: Listings,
  ) {
    this.disposables = [
      commands.registerCommand("tile-lsp.showControlFlowGraph", (stage?: string) => this.show(stage)),
      server.onDidChangeKernels((uri) => this.kernelsChanged(uri)),
      window.onDidChangeTextEditorSelection(({ textEditor }) => this.mark(textEditor)),
    ];
  }

  /** @param given The stage; else that of the listing in front, else the one that the user picks. */
  private async show(given?: string): Promise<void> {
    const listing = window.activeTextEditor && this.listings.get(window.activeTextEditor.document.uri);
    const kernel = await this.kernels.choose();
    if (!kernel) return;
    const there = Object.keys(STAGES).filter((stage) => kernel.stages.includes(stage));
    const stage = [given, listing?.stage].find((one) => one && there.includes(one)) ?? (await pick(there));
    if (!stage) {
      if (!there.length) lacking(`There is no control-flow graph of ${kernel.name}: it has neither SASS nor LLVM IR.`);
      return;
    }
    const job = listing?.pinned ? listing.job : null;
    await this.draw({ textDocument: { uri: kernel.uri }, kernel: kernel.name, stage, job }, demand);
  }

  /** @param question `demand` where somebody asked for it just now. */
  private async draw(params: GraphParams, question: typeof demand = ask): Promise<void> {
    this.shown = params;
    const result = await question(this.server, "tile/graph", params);
    if (!result || this.shown !== params) return;
    const { draw } = await import("./graphviz.js");
    this.svg = result.dot ? await draw(result.dot) : "";
    this.result = result;
    const title = `${STAGES[result.stage]} Graph: ${result.kernel}${result.label ? ` · ${result.label}` : ""}`;
    this.panel ??= this.open();
    this.panel.title = title;
    this.send();
    this.panel.reveal(undefined, true);
  }

  private open(): WebviewPanel {
    const where = { viewColumn: ViewColumn.Beside, preserveFocus: true };
    const options = { enableScripts: true, retainContextWhenHidden: true, localResourceRoots: [] };
    const panel = window.createWebviewPanel("tile-lsp.graph", "Control-Flow Graph", where, options);
    panel.webview.onDidReceiveMessage((message: Message) => this.hear(message));
    panel.onDidDispose(() => {
      this.panel = undefined;
      this.shown = undefined;
      this.result = undefined;
    });
    panel.webview.html = graphPage(randomBytes(16).toString("hex"));
    return panel;
  }

  private send(): void {
    this.panel?.webview.postMessage({
      svg: this.svg,
      title: this.panel.title,
      problems: this.result?.problems ?? [],
    });
    if (window.activeTextEditor) this.mark(window.activeTextEditor);
  }

  private async hear({ ready, block: id, listing }: Message): Promise<void> {
    if (ready) this.send();
    const result = this.result;
    const block = result?.blocks.find((one) => one.id === id);
    if (!result || !block) return;
    if (block.source && !listing) await reveal(block.source);
    const uri = Uri.parse(result.uri).toString();
    const open = window.visibleTextEditors.find(({ document }) => document.uri.toString() === uri);
    if (open) go(open, block.first, block.last);
    else if (listing || !block.source) {
      const document = await workspace.openTextDocument(Uri.parse(result.uri));
      go(await window.showTextDocument(document, { viewColumn: ViewColumn.Beside }), block.first, block.last);
    }
  }

  /** The blocks that the cursor's line is in, or is the source of. */
  private mark({ document, selection }: TextEditor): void {
    const result = this.result;
    if (!result || !this.panel) return;
    const uri = document.uri.toString();
    const line = selection.active.line;
    const inListing = uri === Uri.parse(result.uri).toString();
    const inSource = uri === Uri.parse(result.source).toString();
    if (!inListing && !inSource) return;
    const links = this.listings.get(Uri.parse(result.uri))?.links;
    const rows = inListing ? [line] : (links?.of({ uri, line }).own ?? []);
    const covers = ({ first, last, source }: GraphBlock) =>
      rows.some((row) => first <= row && row <= last) || (!links && inSource && source?.range.start.line === line);
    this.panel.webview.postMessage({ current: result.blocks.filter(covers).map(({ id }) => id) });
  }

  private kernelsChanged(uri: Uri): void {
    const shown = this.shown;
    if (!shown || shown.job || uri.toString() !== Uri.parse(shown.textDocument?.uri ?? "").toString()) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.shown === shown && this.draw({ ...shown }), QUIET);
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.panel?.dispose();
    for (const disposable of this.disposables) disposable.dispose();
  }
}

async function pick(stages: readonly string[]): Promise<string | undefined> {
  if (stages.length < 2) return stages[0];
  const items = stages.map((stage) => ({ label: STAGES[stage] as string, stage }));
  return (await window.showQuickPick(items, { title: "Control-Flow Graph of" }))?.stage;
}

async function reveal({ uri, range }: Location): Promise<void> {
  const target = Uri.parse(uri).toString();
  const open = window.visibleTextEditors.find(({ document }) => document.uri.toString() === target);
  const document = open?.document ?? (await workspace.openTextDocument(Uri.parse(uri)));
  const viewColumn = open?.viewColumn ?? ViewColumn.One;
  go(await window.showTextDocument(document, { viewColumn }), range.start.line, range.start.line);
}

function go(editor: TextEditor, first: number, last: number): void {
  const start = editor.document.lineAt(Math.min(first, editor.document.lineCount - 1)).range.start;
  editor.revealRange(new Range(start.line, 0, last, 0), TextEditorRevealType.InCenterIfOutsideViewport);
  editor.selection = new Selection(start, start);
}

// The status bar item, and Show Status: the server's state, the active configuration, what is queued.
import {
  commands,
  type Disposable,
  MarkdownString,
  type QuickPickItem,
  QuickPickItemKind,
  StatusBarAlignment,
  ThemeColor,
  window,
} from "vscode";
import { openSettings } from "./commands";
import { activeJob, type Kernels } from "./kernels";
import { isSource } from "./languages";
import { type Listings, SCHEME } from "./listings";
import { ask } from "./requests";
import type { Life, Server } from "./server";

const LIVES: Record<Exclude<Life, "running">, string> = {
  stopped: "$(circle-slash) Tile",
  missing: "$(warning) Tile: no server",
  starting: "$(loading~spin) Tile",
  failed: "$(error) Tile",
};
const SAYINGS: Record<Life, string> = {
  stopped: "The server is stopped",
  missing: "tile-lsp was not found",
  starting: "The server is starting",
  failed: "The server did not start: see the output",
  running: "The server is running",
};

const NO_TARGET =
  "There is no GPU here whose code could be shown. Name one: `target=sm_90` in a `# tile-lsp:` comment above the kernel, or the setting `tile-lsp.targets`.";

interface Shown {
  readonly kernel: string;
  readonly label: string;
  readonly resources: string | null;
  /** False where code can't be generated, because nobody says for what. */
  readonly targeted: boolean;
}

export class Status implements Disposable {
  private readonly item = window.createStatusBarItem("tile-lsp.status", StatusBarAlignment.Left, 0);
  private readonly disposables: Disposable[];

  constructor(
    private readonly server: Server,
    private readonly kernels: Kernels,
    private readonly listings: Listings,
  ) {
    this.item.name = "Tile";
    this.item.command = "tile-lsp.showStatus";
    this.disposables = [
      this.item,
      server.onDidChange(() => this.update()),
      kernels.onDidChange(() => this.update()),
      window.onDidChangeActiveTextEditor(() => this.update()),
      window.onDidChangeTextEditorSelection(({ textEditor }) => {
        if (textEditor === window.activeTextEditor) this.update();
      }),
      commands.registerCommand("tile-lsp.showStatus", () => this.show()),
      commands.registerCommand("tile-lsp.showOutput", () => server.output.show()),
      commands.registerCommand("tile-lsp.restartServer", () => server.restart()),
      commands.registerCommand("tile-lsp.openSettings", openSettings),
    ];
    this.update();
  }

  private update(): void {
    const document = window.activeTextEditor?.document;
    if (!isSource(document) && document?.uri.scheme !== SCHEME) {
      this.item.hide();
      return;
    }
    this.item.text = this.text();
    const tooltip = new MarkdownString(this.lines().join("\n\n"), true);
    this.item.tooltip = tooltip;
    const wrong = this.server.life === "missing" || this.server.life === "failed";
    this.item.backgroundColor = wrong ? new ThemeColor("statusBarItem.warningBackground") : undefined;
    this.item.show();
  }

  /** `$(sync~spin) Tile: sm_90 · num_ctas=2 (3 running)`. */
  private text(): string {
    const { life, status } = this.server;
    if (life !== "running") return LIVES[life];
    // What is wrong with other files, or in other folders, is in the tooltip.
    const wrong = this.kernels.inFront().some(({ state }) => state === "blocked");
    const icon = status?.state === "busy" ? "$(sync~spin)" : wrong ? "$(warning)" : "$(circuit-board)";
    const queue = status && status.running > 1 ? ` (${status.running} running)` : "";
    const label = this.configuration()?.label;
    return `${icon} Tile${label ? `: ${label}` : ""}${queue}`;
  }

  /** The kernel and its job that the views in front are of. */
  private configuration(): Shown | undefined {
    const editor = window.activeTextEditor;
    const listing = editor && this.listings.get(editor.document.uri);
    const kernel = this.kernels.current();
    const job = listing?.pinned ? kernel?.jobs.find(({ token }) => token === listing.job) : activeJob(kernel);
    if (kernel && job) {
      return { kernel: kernel.name, label: job.label, resources: job.resources, targeted: job.target !== null };
    }
    return listing && { kernel: listing.kernel, label: listing.label, resources: null, targeted: true };
  }

  private lines(): string[] {
    const { life, status, command } = this.server;
    const configuration = this.configuration();
    return [
      life === "running" && status ? `tile-lsp ${status.version}` : SAYINGS[life],
      ...(command && life !== "running" ? [`\`${command.command}\``] : []),
      ...(configuration ? [`\`${configuration.kernel}\` for ${configuration.label}`] : []),
      ...(configuration?.resources ? [configuration.resources] : []),
      ...(configuration && !configuration.targeted ? [NO_TARGET] : []),
      ...(status?.title ? [status.running ? `${status.title}: ${status.running} running` : status.title] : []),
      ...(status && !status.trusted ? ["The workspace is not trusted: nothing of it is executed."] : []),
      ...(status?.problems ?? []).map((problem) => `$(warning) ${problem}`),
    ];
  }

  private async show(): Promise<void> {
    const { server } = this;
    server.status = (await ask(server, "tile/status", {})) ?? server.status;
    this.update();
    const facts: QuickPickItem[] = this.lines().map((label) => ({ label: label.replaceAll("`", "") }));
    const { command } = server;
    if (command && server.life === "running") {
      facts.push({ label: `Server from ${command.origin}`, description: command.command });
    }
    const stats = await ask(server, "tile/stats", {});
    if (stats) {
      const { inferences, codegens, store } = stats;
      facts.push({
        label: `Inferences: ${inferences}`,
        description: `code generations: ${codegens}, from the cache: ${store.hits ?? 0}`,
      });
    }
    const action = (label: string, command: string) => ({ label, command });
    const actions = [
      ...(this.kernels.inFront().length
        ? [action("$(settings) Select Configuration", "tile-lsp.selectConfiguration")]
        : []),
      action("$(refresh) Restart Server", "tile-lsp.restartServer"),
      action("$(output) Show Output", "tile-lsp.showOutput"),
      action("$(gear) Open Settings", "tile-lsp.openSettings"),
      ...(server.life === "missing" ? [action("$(cloud-download) Install the Server", "tile-lsp.installServer")] : []),
    ];
    const separator = (label: string): QuickPickItem => ({ label, kind: QuickPickItemKind.Separator });
    const items: (QuickPickItem & { command?: string })[] = [
      separator("status"),
      ...facts,
      separator("actions"),
      ...actions,
    ];
    const picked = await window.showQuickPick(items, { title: "Tile" });
    if (picked?.command) await commands.executeCommand(picked.command);
  }

  dispose(): void {
    for (const disposable of this.disposables) disposable.dispose();
  }
}

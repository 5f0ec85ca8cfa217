// No server: offer to install it, once, to someone who works on kernels.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { commands, type Disposable, ProcessExecution, type TextDocument, Uri, window, workspace } from "vscode";
import { barred, recent, type Surroundings } from "./discovery";
import { install } from "./install";
import { isCuda, isSource } from "./languages";
import type { Server } from "./server";

/** Modules that kernels are written with. */
const KERNELS =
  /^\s*(?:import|from)\s+(?:cuda\.tile|triton|numba\.cuda)\b|^\s*from\s+(?:cuda\s+import\s+tile|numba\s+import\s+cuda)\b/m;
const CUDA = /\b__global__\b/;
const CHOOSE = "Choose interpreter";
const OPEN = "Open docs";
const TRUST = "Manage workspace trust";

export class Missing implements Disposable {
  private offered = false;
  private readonly disposables: Disposable[];

  constructor(
    private readonly server: Server,
    private readonly extension: Uri,
  ) {
    this.disposables = [
      server.onDidChange(() => this.look()),
      workspace.onDidOpenTextDocument(() => this.look()),
      commands.registerCommand("tile-lsp.installServer", () => this.offer()),
    ];
  }

  private look(): void {
    if (this.server.life !== "missing" || this.offered || !workspace.textDocuments.some(holdsKernels)) return;
    this.offered = true;
    this.offer();
  }

  private async offer(): Promise<void> {
    const interpreter = this.mayInstall();
    const install = interpreter && `Install tile-lsp into ${workspace.asRelativePath(interpreter, false)}`;
    const surroundings = await this.server.surroundings();
    const first = install ?? (barred(surroundings) ? TRUST : undefined);
    const answer = await window.showWarningMessage(this.reason(surroundings), ...(first ? [first] : []), CHOOSE, OPEN);
    if (answer === TRUST) await commands.executeCommand("workbench.trust.manage");
    else if (answer === OPEN)
      await commands.executeCommand("markdown.showPreview", Uri.joinPath(this.extension, "media/server.md"));
    else if (answer === CHOOSE) await this.choose();
    else if (answer && interpreter) await this.install(interpreter);
  }

  private reason(surroundings: Surroundings): string {
    const { setting } = surroundings;
    if (setting) return `Tile's language server is not at ${setting}, where the setting tile-lsp.server.path has it.`;
    if (barred(surroundings)) {
      return "Tile's language server would be started by the Python in .venv, which a workspace that is not trusted must not: trust it, or have Python 3.11 or newer on PATH.";
    }
    const found = this.server.interpreters;
    if (found.some(({ version }) => recent(version)))
      return "Tile needs its language server, the Python package tile-lsp, and did not find it.";
    const [first] = found;
    const there = first ? `${first.path} is ${first.version}` : "none was found";
    return `Tile's language server needs Python 3.11 or newer: ${there}.`;
  }

  /** An environment of the user's choice; the Pythons of PATH are not ours to install into. */
  private mayInstall(): string | undefined {
    const { interpreters } = this.server;
    return interpreters.find(({ origin, version }) => origin !== "PATH" && recent(version))?.path;
  }

  private async choose(): Promise<void> {
    if ((await commands.getCommands(true)).includes("python.setInterpreter")) {
      await commands.executeCommand("python.setInterpreter");
    } else {
      await commands.executeCommand("workbench.action.openSettings", "tile-lsp.server.path");
    }
  }

  /** In a terminal, where it can be watched; then the server is looked for again. */
  private async install(interpreter: string): Promise<void> {
    const given = ["-m", "pip", "install", "--upgrade", this.requirement()];
    const code = await install(new ProcessExecution(interpreter, given));
    if (code === 0) await this.server.restart();
    else window.showErrorMessage(`tile-lsp could not be installed into ${interpreter}: the terminal says why.`);
  }

  /** The server that this extension was built with, where it brought one; else the newest there is. */
  private requirement(): string {
    const folder = join(this.extension.fsPath, "bundled");
    const wheel = existsSync(folder) && readdirSync(folder).find((name) => name.endsWith(".whl"));
    return wheel ? join(folder, wheel) : "tile-lsp";
  }

  dispose(): void {
    for (const disposable of this.disposables) disposable.dispose();
  }
}

function holdsKernels(document: TextDocument): boolean {
  return isSource(document) && (isCuda(document) ? CUDA : KERNELS).test(document.getText());
}

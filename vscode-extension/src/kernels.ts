// The kernels of the file in front, and the context keys by which commands are offered.
import { commands, type Disposable, EventEmitter, type TextEditor, Uri, window, workspace } from "vscode";
import { isSource } from "./languages";
import type { Listings } from "./listings";
import type { Job, Kernel } from "./protocol";
import { ask, demand } from "./requests";
import type { Server } from "./server";
import { lacking } from "./tell";

/** Stages that have a command; the key `tile-lsp.has.<stage>` enables it. */
const STAGES = ["typed", "tileir", "ttgir", "llvm", "ptx", "sass", "amdgcn"];

/** Milliseconds after an edit before kernels are asked for: they move, and new ones appear. */
const QUIET = 200;

export class Kernels implements Disposable {
  private readonly known = new Map<string, readonly Kernel[]>();
  private readonly changed = new EventEmitter<void>();
  private readonly disposables: Disposable[];
  private timer: NodeJS.Timeout | undefined;
  /** What is known of the file in front is new. */
  readonly onDidChange = this.changed.event;

  constructor(
    private readonly server: Server,
    private readonly listings: Listings,
  ) {
    this.disposables = [
      this.changed,
      window.onDidChangeActiveTextEditor(() => this.refresh()),
      listings.onDidChange(() => this.refresh()),
      server.onDidChangeKernels((uri) => this.refreshIfFront(uri)),
      server.onDidChange(() => this.refresh()),
      workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (contentChanges.length && document.uri.toString() === this.front()?.toString()) this.later();
      }),
    ];
  }

  /** The file in front: the one that is edited, or the source of the listing that is looked at. */
  front(editor: TextEditor | undefined = window.activeTextEditor): Uri | undefined {
    const document = editor?.document;
    if (document?.uri.scheme === "tile") {
      const source = this.listings.get(document.uri)?.source;
      return source ? Uri.parse(source) : undefined;
    }
    return isSource(document) ? document?.uri : undefined;
  }

  inFront(): readonly Kernel[] {
    const front = this.front();
    return (front && this.known.get(front.toString())) ?? [];
  }

  /** The kernel that a command is meant for: the listing's, the one around the cursor, the one that is looked at, or the only one. */
  current(editor: TextEditor | undefined = window.activeTextEditor): Kernel | undefined {
    const kernels = this.inFront();
    const listing = editor && this.listings.get(editor.document.uri);
    if (listing) return kernels.find((kernel) => kernel.name === listing.kernel);
    const around = editor && kernels.filter((kernel) => covers(kernel, editor));
    const shown = window.visibleTextEditors.flatMap(({ document }) => this.listings.get(document.uri)?.kernel ?? []);
    const seen = kernels.filter(({ name }) => shown.includes(name));
    return around?.at(-1) ?? [seen, kernels].find((some) => some.length === 1)?.[0];
  }

  /** `current`, else the one that the user picks. Where there is none they are told so. */
  async choose(): Promise<Kernel | undefined> {
    const front = this.front();
    if (!front) {
      lacking("There is no kernel here: open a file that has one, or a listing of one.");
      return undefined;
    }
    if (!(await this.of(front, demand))) return undefined;
    await this.publish();
    const current = this.current();
    if (current) return current;
    const items = this.inFront().map((kernel) => ({ label: kernel.name, description: describe(kernel), kernel }));
    if (!items.length) lacking(`No kernel was found in ${workspace.asRelativePath(front)}.`);
    return items.length ? (await window.showQuickPick(items, { title: "Kernel" }))?.kernel : undefined;
  }

  /** One of a file, by its name. Where there is none the user, who asked for it, is told so. */
  async named(uri: Uri, name: string): Promise<Kernel | undefined> {
    const kernels = await this.of(uri, demand);
    const found = kernels?.find((kernel) => kernel.name === name);
    if (kernels && !found) lacking(`${workspace.asRelativePath(uri)} has no kernel ${name} any more.`);
    return found;
  }

  /** Ask the server anew about one file. Undefined where there is no answer. */
  private async of(uri: Uri, question: typeof demand = ask): Promise<readonly Kernel[] | undefined> {
    const result = await question(this.server, "tile/jobs", { textDocument: { uri: uri.toString() } });
    if (!result) return undefined;
    const kernels = result.kernels;
    this.known.set(uri.toString(), kernels);
    return kernels;
  }

  async refresh(): Promise<void> {
    const front = this.front();
    if (front && this.server.client) await this.of(front);
    if (!this.server.client) this.known.clear();
    if (this.front()?.toString() === front?.toString()) await this.publish();
  }

  private refreshIfFront(uri: Uri): void {
    if (uri.toString() === this.front()?.toString()) this.refresh();
  }

  private later(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.refresh(), QUIET);
  }

  private async publish(): Promise<void> {
    const kernels = this.inFront();
    const listing = window.activeTextEditor && this.listings.get(window.activeTextEditor.document.uri);
    const keys: [string, unknown][] = [
      ["running", this.server.client !== undefined],
      ["kernels", kernels.length > 0],
      ["assumed", kernels.some((kernel) => activeJob(kernel)?.arguments.some(({ origin }) => origin === "assumed"))],
      ["view", listing ? (listing.pinned ? "pinned" : "following") : ""],
      ...STAGES.map((stage): [string, unknown] => [
        `has.${stage}`,
        kernels.some((kernel) => kernel.stages.includes(stage)),
      ]),
    ];
    await Promise.all(keys.map(([key, value]) => commands.executeCommand("setContext", `tile-lsp.${key}`, value)));
    this.changed.fire();
  }

  dispose(): void {
    clearTimeout(this.timer);
    for (const disposable of this.disposables) disposable.dispose();
  }
}

export function activeJob(kernel: Kernel | undefined): Job | undefined {
  return kernel?.jobs.find((job) => job.active);
}

export function describe(kernel: Kernel): string {
  return activeJob(kernel)?.label ?? kernel.state;
}

/** Of a notebook's kernels, only those of the cell that is edited can be. */
function covers({ uri, range: { start, end } }: Kernel, { document, selection }: TextEditor): boolean {
  const { line } = selection.active;
  return Uri.parse(uri).toString() === document.uri.toString() && start.line <= line && line <= end.line;
}

// Listings that were open when the window was closed come back, where their source is open again. VS Code only does that for files.
import { type Disposable, type Memento, TabInputText, Uri, type ViewColumn, window } from "vscode";
import type { Listings } from "./listings";
import type { Server } from "./server";
import { open } from "./show";

const KEY = "listings";

interface Remembered {
  readonly uri: string;
  readonly source: string;
  readonly column: ViewColumn;
}

export class Restore implements Disposable {
  private readonly disposables: Disposable[];
  private restored: Promise<void> | undefined;
  private done = false;

  constructor(
    private readonly server: Server,
    private readonly listings: Listings,
    private readonly memory: Memento,
  ) {
    this.disposables = [
      server.onDidChange(() => this.restore()),
      window.tabGroups.onDidChangeTabs(() => this.remember()),
      listings.onDidChange(() => this.remember()),
    ];
  }

  private restore(): void {
    if (this.server.client) this.restored ??= this.reopen();
  }

  private async reopen(): Promise<void> {
    const open = new Set(tabs().map(({ uri }) => uri.toString()));
    for (const { uri, source, column } of this.memory.get<Remembered[]>(KEY, [])) {
      if (open.has(Uri.parse(source).toString()) && !open.has(uri)) await show(uri, column);
    }
    this.done = true;
  }

  private remember(): void {
    if (!this.done) return;
    const remembered = tabs().flatMap(({ uri, column }): Remembered[] => {
      const source = this.listings.get(uri)?.source;
      return source ? [{ uri: uri.toString(), source, column }] : [];
    });
    this.memory.update(KEY, remembered);
  }

  dispose(): void {
    for (const disposable of this.disposables) disposable.dispose();
  }
}

async function show(uri: string, column: ViewColumn): Promise<void> {
  try {
    await open(Uri.parse(uri), column);
  } catch {
    // The kernel is gone, and its listing with it.
  }
}

function tabs(): { uri: Uri; column: ViewColumn }[] {
  return window.tabGroups.all.flatMap(({ tabs, viewColumn }) =>
    tabs.flatMap(({ input }) => (input instanceof TabInputText ? [{ uri: input.uri, column: viewColumn }] : [])),
  );
}

// Show a stage of a kernel beside its source.
import { commands, type Disposable, languages, type TextEditor, Uri, ViewColumn, window, workspace } from "vscode";
import type { Kernels } from "./kernels";
import { type Listings, SCHEME } from "./listings";
import type { Job, Kernel } from "./protocol";
import { lacking } from "./tell";

/** Command → stage. The titles are in package.json. */
const COMMANDS: Record<string, string> = {
  "tile-lsp.showSass": "sass",
  "tile-lsp.showPtx": "ptx",
  "tile-lsp.showAmdgcn": "amdgcn",
  "tile-lsp.showTypedIr": "typed",
  "tile-lsp.showTileIr": "tileir",
  "tile-lsp.showTtgir": "ttgir",
  "tile-lsp.showLlvmIr": "llvm",
};

/** What the server's `tile.show` and `tile.pin` take. */
export interface View {
  readonly uri: string;
  readonly kernel: string;
  readonly stage?: string;
  readonly job?: string;
}

export class Show implements Disposable {
  private readonly disposables: Disposable[];

  constructor(
    private readonly kernels: Kernels,
    private readonly listings: Listings,
  ) {
    this.disposables = Object.entries(COMMANDS).map(([command, stage]) =>
      commands.registerCommand(command, () => this.front(stage)),
    );
  }

  /** A stage of the kernel in front; of the same job where a pinned listing is in front. */
  async front(stage: string): Promise<void> {
    const kernel = await this.kernels.choose();
    if (!kernel) return;
    const listing = window.activeTextEditor && this.listings.get(window.activeTextEditor.document.uri);
    await this.kernel(
      kernel,
      stage,
      listing?.pinned ? kernel.jobs.find((job) => job.token === listing.job) : undefined,
    );
  }

  async kernel(kernel: Kernel, stage: string, job?: Job, column = listingColumn()): Promise<TextEditor | undefined> {
    const { documents } = job ?? kernel;
    // Who asks for SASS wants machine code, whoever made the GPU.
    const uri = documents[stage] ?? (stage === "sass" ? documents.amdgcn : undefined);
    if (uri) return open(Uri.parse(uri), column);
    lacking(`There is no ${stage} of ${kernel.name}: a kernel of ${kernel.frontend} has ${kernel.stages.join(", ")}.`);
    return undefined;
  }

  /** What a lens or a code action asks for; `pin`: of the job that is active now. */
  async view({ uri, kernel: name, stage = "sass", job }: View, pin: boolean): Promise<void> {
    const kernel = await this.kernels.named(Uri.parse(uri), name);
    const pinned = kernel?.jobs.find(({ token, active }) => (job ? token === job : pin && active));
    if (kernel) await this.kernel(kernel, stage, pinned);
  }

  dispose(): void {
    for (const disposable of this.disposables) disposable.dispose();
  }
}

/** Open a listing; the focus stays where it is. */
export async function open(uri: Uri, viewColumn: ViewColumn): Promise<TextEditor> {
  const document = await workspace.openTextDocument(uri);
  return window.showTextDocument(document, { viewColumn, preserveFocus: true, preview: false });
}

/** Where listings are already, else beside the source. */
function listingColumn(): ViewColumn {
  const active = window.activeTextEditor;
  const beside = window.visibleTextEditors.find((editor) => editor.document.uri.scheme === SCHEME);
  const there = active?.document.uri.scheme === SCHEME ? active : beside;
  return there?.viewColumn ?? ViewColumn.Beside;
}

/** A listing's language is the server's to say, whatever file associations make of its name. */
export function keepLanguage(listings: Listings): Disposable {
  return listings.onDidChange((uri) => {
    const listing = listings.get(uri);
    const document = workspace.textDocuments.find((one) => one.uri.toString() === uri.toString());
    if (document && listing && document.languageId !== listing.languageId) {
      languages.setTextDocumentLanguage(document, listing.languageId);
    }
  });
}

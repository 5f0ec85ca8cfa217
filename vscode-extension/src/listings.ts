// The listings that are open: whose they are, how they stand to the source, and which source lines theirs came from.
import {
  CancellationTokenSource,
  type Disposable,
  EventEmitter,
  type ProviderResult,
  type TextDocument,
  type TextDocumentChangeEvent,
  Uri,
  workspace,
} from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import { isSource } from "./languages";
import { Links } from "./links";
import type { DocumentResult } from "./protocol";
import { ask } from "./requests";
import type { Server } from "./server";

export const SCHEME = "tile";

/** Stands in for a text that takes longer. */
export const COMPILING = "// compiling …\n";

export type State = DocumentResult["state"];

export interface Listing {
  readonly uri: Uri;
  /** URI of the file that holds the kernel. */
  readonly source: string;
  readonly kernel: string;
  readonly stage: string;
  readonly languageId: string;
  readonly pinned: boolean;
  /** Token of the job that is shown. */
  readonly job: string | null;
  /** Of its job: `sm_90 · num_ctas=2`. */
  readonly label: string;
  readonly state: State;
  /** Why it is not fresh. */
  readonly problems: readonly string[];
  readonly links: Links;
}

/** Milliseconds without an edit before a listing is asked about: the server compiles meanwhile anyway. */
const QUIET = 100;
/** Milliseconds of waiting before a listing is said to be compiling. */
const PATIENCE = 250;

export class Listings implements Disposable {
  private readonly known = new Map<string, Listing>();
  private readonly asking = new Map<string, CancellationTokenSource>();
  private readonly waiting = new Set<string>();
  private readonly changed = new EventEmitter<Uri>();
  private readonly disposables: Disposable[];
  private timer: NodeJS.Timeout | undefined;
  private client: LanguageClient | undefined;
  /** What is known of a listing is new. */
  readonly onDidChange = this.changed.event;

  constructor(private readonly server: Server) {
    this.disposables = [
      this.changed,
      workspace.onDidOpenTextDocument((document) => this.ask(document)),
      workspace.onDidCloseTextDocument((document) => this.forget(document.uri)),
      workspace.onDidChangeTextDocument((event) => this.edited(event)),
      server.onDidChangeKernels(() => this.askAll()),
      server.onDidChange(() => this.serverChanged()),
    ];
  }

  get(uri: Uri): Listing | undefined {
    return this.known.get(uri.toString());
  }

  /** True while the server works on it for longer than a moment. */
  compiling(uri: Uri): boolean {
    return this.waiting.has(uri.toString());
  }

  open(): readonly Listing[] {
    return [...this.known.values()];
  }

  /**
   * The content of a listing. One that is opened shows at once: with a word that it is compiling, where that takes longer than
   * a moment. One that is open keeps its text until there is another.
   */
  async provide(uri: Uri, content: () => ProviderResult<string>): Promise<string | null | undefined> {
    const text = Promise.resolve(content());
    if (listingDocuments().some((document) => document.uri.toString() === uri.toString())) return text;
    const pending = new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), PATIENCE));
    const first = await Promise.race([text, pending]);
    if (first !== undefined) return first;
    text.then(
      () => this.reload([uri]),
      () => undefined,
    );
    return COMPILING;
  }

  /** Have texts made anew. */
  private reload(uris: readonly Uri[]): void {
    const feature = this.server.client?.getFeature("workspace/textDocumentContent");
    for (const { onDidChangeEmitter } of feature?.getProviders() ?? []) {
      for (const uri of uris) onDidChangeEmitter.fire(uri);
    }
  }

  /** Another server started: it has not seen the listings that are open. */
  private serverChanged(): void {
    if (this.client === this.server.client) return;
    this.client = this.server.client;
    if (this.client) this.reload(listingDocuments().map(({ uri }) => uri));
  }

  private edited({ document, contentChanges }: TextDocumentChangeEvent): void {
    if (document.uri.scheme === SCHEME) this.ask(document);
    else if (isSource(document) && contentChanges.length && this.known.size) this.askAll();
  }

  private askAll(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      for (const document of listingDocuments()) this.ask(document);
    }, QUIET);
  }

  /** The newest question wins. */
  private async ask(document: TextDocument): Promise<void> {
    if (document.uri.scheme !== SCHEME) return;
    const key = document.uri.toString();
    this.asking.get(key)?.cancel();
    const source = new CancellationTokenSource();
    this.asking.set(key, source);
    const patience = setTimeout(() => {
      this.waiting.add(key);
      this.changed.fire(document.uri);
    }, PATIENCE);
    // In the very spelling that the editor asks for the content with.
    const result = await ask(this.server, "tile/document", { uri: key }, source.token);
    clearTimeout(patience);
    if (this.asking.get(key) !== source) return;
    this.asking.delete(key);
    this.waiting.delete(key);
    // Another text means that its refresh is under way, and with it the next question; unless it was there before the
    // document was, which VS Code then was not told of.
    if (result && result.text === document.getText()) this.known.set(key, listing(document.uri, result));
    else if (result && document.getText() === COMPILING) this.reload([document.uri]);
    if (!document.isClosed) this.changed.fire(document.uri);
  }

  private forget(uri: Uri): void {
    const key = uri.toString();
    this.asking.get(key)?.cancel();
    this.asking.delete(key);
    this.waiting.delete(key);
    if (this.known.delete(key)) this.changed.fire(uri);
  }

  dispose(): void {
    clearTimeout(this.timer);
    for (const source of this.asking.values()) source.cancel();
    for (const disposable of this.disposables) disposable.dispose();
  }
}

function listingDocuments(): readonly TextDocument[] {
  return workspace.textDocuments.filter((document) => document.uri.scheme === SCHEME);
}

function listing(uri: Uri, result: DocumentResult): Listing {
  const { source, kernel, stage, languageId, pinned, job, label, state, problems } = result;
  const spell = (other: string) => Uri.parse(other).toString();
  const links = new Links(result.lines, spell);
  return { uri, source, kernel, stage, languageId, pinned, job, label, state, problems, links };
}

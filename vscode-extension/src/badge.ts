// How a listing stands to the source, at a glance: a badge on its tab, a word in its first line, dimmed text where it is old. One
// that is pinned to a configuration says so.
import {
  type Disposable,
  EventEmitter,
  FileDecoration,
  type FileDecorationProvider,
  Range,
  ThemeColor,
  type Uri,
  window,
} from "vscode";
import { type Listings, SCHEME, type State } from "./listings";

interface Look {
  readonly badge: string;
  readonly word: string;
  readonly color?: ThemeColor;
  readonly dim: boolean;
}

const LOOKS: Record<Exclude<State, "fresh">, Look> = {
  compiling: { badge: "…", word: "compiling …", color: new ThemeColor("charts.blue"), dim: false },
  stale: { badge: "~", word: "stale", color: new ThemeColor("list.warningForeground"), dim: true },
  failed: { badge: "!", word: "error", color: new ThemeColor("list.errorForeground"), dim: true },
  blocked: { badge: "!", word: "not compiled", color: new ThemeColor("list.warningForeground"), dim: true },
};

const PINNED: Look = { badge: "P", word: "pinned", dim: false };

export class Badges implements Disposable, FileDecorationProvider {
  private readonly dim = window.createTextEditorDecorationType({ opacity: "0.55" });
  private readonly word = window.createTextEditorDecorationType({});
  private readonly changed = new EventEmitter<Uri>();
  private readonly disposables: Disposable[];
  readonly onDidChangeFileDecorations = this.changed.event;

  constructor(private readonly listings: Listings) {
    this.disposables = [
      this.dim,
      this.word,
      this.changed,
      window.registerFileDecorationProvider(this),
      window.onDidChangeVisibleTextEditors(() => this.paint()),
      listings.onDidChange((uri) => {
        this.changed.fire(uri);
        this.paint();
      }),
    ];
  }

  provideFileDecoration(uri: Uri): FileDecoration | undefined {
    const look = uri.scheme === SCHEME ? this.look(uri) : undefined;
    const listing = this.listings.get(uri);
    const why = look === PINNED ? listing?.label : listing?.problems[0];
    return look && new FileDecoration(look.badge, why ? `${look.word}: ${why}` : look.word, look.color);
  }

  private paint(): void {
    for (const editor of window.visibleTextEditors) {
      const { uri } = editor.document;
      if (uri.scheme !== SCHEME) continue;
      const look = this.look(uri);
      const end = editor.document.lineAt(0).range.end;
      const color = look?.color ?? new ThemeColor("descriptionForeground");
      const after = look && { contentText: look.word, color, margin: "0 0 0 2em", fontStyle: "italic" };
      editor.setDecorations(this.word, after ? [{ range: new Range(end, end), renderOptions: { after } }] : []);
      // The header stays legible: it says what is wrong.
      const body = new Range(headerLines(editor.document.getText()), 0, editor.document.lineCount, 0);
      editor.setDecorations(this.dim, look?.dim ? [body] : []);
    }
  }

  private look(uri: Uri): Look | undefined {
    const listing = this.listings.get(uri);
    const state = this.listings.compiling(uri) ? "compiling" : listing?.state;
    if (state && state !== "fresh") return LOOKS[state];
    return listing?.pinned ? PINNED : undefined;
  }

  dispose(): void {
    for (const disposable of this.disposables) disposable.dispose();
  }
}

/** A listing's header ends with its first empty line. */
function headerLines(text: string): number {
  const end = text.indexOf("\n\n");
  return end < 0 ? 0 : text.slice(0, end).split("\n").length;
}

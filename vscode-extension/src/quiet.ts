// Addresses and scheduling in SASS step back, so that opcodes are what the eye meets.
import { type Disposable, Range, type TextDocument, type TextEditor, ThemeColor, window } from "vscode";
import type { Listings } from "./listings";

/** An address, and what the scheduler is told. */
const ASIDE = /^\s*\/\*[0-9a-f]{4,}\*\/|\/\* B[-0-9]{6}:\S+ \*\/$/g;

export class Quiet implements Disposable {
  private readonly aside = window.createTextEditorDecorationType({
    color: new ThemeColor("editorLineNumber.foreground"),
  });
  private readonly painted = new WeakMap<TextEditor, string>();
  private readonly disposables: Disposable[];

  constructor(listings: Listings) {
    this.disposables = [
      this.aside,
      window.onDidChangeVisibleTextEditors(() => this.paint()),
      listings.onDidChange(() => this.paint()),
    ];
  }

  private paint(): void {
    for (const editor of window.visibleTextEditors) {
      const { languageId, uri, version } = editor.document;
      const state = `${uri} ${version}`;
      if (languageId !== "nvsass" || this.painted.get(editor) === state) continue;
      this.painted.set(editor, state);
      editor.setDecorations(this.aside, asides(editor.document));
    }
  }

  dispose(): void {
    for (const disposable of this.disposables) disposable.dispose();
  }
}

function asides(document: TextDocument): Range[] {
  return document
    .getText()
    .split("\n")
    .flatMap((text, line) => {
      return [...text.matchAll(ASIDE)].map(({ index, 0: found }) => new Range(line, index, line, index + found.length));
    });
}

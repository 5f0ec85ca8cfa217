// A listing that is made anew keeps its place: cursor and scroll stay with their instructions, whatever their lines are now.
import { type Disposable, Range, Selection, type TextEditor, TextEditorRevealType, window, workspace } from "vscode";
import { align } from "./align";
import { COMPILING, SCHEME } from "./listings";

/** How an editor stood to a version of its document. */
interface Place {
  readonly version: number;
  readonly lines: readonly string[];
  readonly selection: Selection;
  readonly top: number;
  readonly bottom: number;
}

export class KeepPlace implements Disposable {
  private readonly places = new Map<TextEditor, Place>();
  private readonly disposables: Disposable[];

  constructor() {
    this.disposables = [
      window.onDidChangeVisibleTextEditors((editors) => {
        for (const editor of this.places.keys()) if (!editors.includes(editor)) this.places.delete(editor);
        for (const editor of editors) this.note(editor);
      }),
      window.onDidChangeTextEditorSelection(({ textEditor }) => this.note(textEditor)),
      window.onDidChangeTextEditorVisibleRanges(({ textEditor }) => this.note(textEditor)),
      workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (document.uri.scheme !== SCHEME || !contentChanges.length) return;
        for (const editor of window.visibleTextEditors) if (editor.document === document) this.restore(editor);
      }),
    ];
  }

  private note(editor: TextEditor): void {
    const { document, selection, visibleRanges } = editor;
    const seen = visibleRanges[0];
    if (document.uri.scheme !== SCHEME || !seen) return;
    const known = this.places.get(editor);
    const lines = known?.version === document.version ? known.lines : document.getText().split("\n");
    this.places.set(editor, {
      version: document.version,
      lines,
      selection,
      top: seen.start.line,
      bottom: seen.end.line,
    });
  }

  private restore(editor: TextEditor): void {
    const { document } = editor;
    const place = this.places.get(editor);
    if (!place || place.version >= document.version) return;
    const lines = document.getText().split("\n");
    const moved = place.lines.join("\n") === COMPILING ? () => 0 : align(place.lines, lines);
    const { anchor, active } = place.selection;
    const selection = new Selection(moved(anchor.line), anchor.character, moved(active.line), active.character);
    // What is looked at stays where it was in the window: the cursor if it is in sight, else the first line.
    const fixed = place.top <= active.line && active.line <= place.bottom ? active.line : place.top;
    const top = Math.max(0, moved(fixed) - (fixed - place.top));
    this.places.set(editor, {
      version: document.version,
      lines,
      selection,
      top,
      bottom: top + place.bottom - place.top,
    });
    editor.selection = selection;
    editor.revealRange(new Range(top, 0, top, 0), TextEditorRevealType.AtTop);
  }

  dispose(): void {
    for (const disposable of this.disposables) disposable.dispose();
  }
}

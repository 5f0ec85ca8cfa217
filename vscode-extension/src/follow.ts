// Source and listings follow each other: the cursor's line lights up what belongs to it everywhere else, and scrolls there.
import {
  type Disposable,
  OverviewRulerLane,
  Range,
  type TextEditor,
  TextEditorRevealType,
  ThemeColor,
  window,
  workspace,
} from "vscode";
import { densest, type Links, runs, type SourceLine, type SourceLines } from "./links";
import { type Listings, SCHEME } from "./listings";
import { follows, SECTION } from "./settings";

/** Lines that are searched up and down for one that has a counterpart, when an editor is scrolled. */
const REACH = 12;

/** What is lit up: a source line, and the call sites through which the cursor's instruction was inlined. */
interface Focus {
  readonly source: SourceLine;
  readonly callers: readonly SourceLines[];
}

export class Follow implements Disposable {
  private readonly own = window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new ThemeColor("tile.linkedLine"),
    borderWidth: "0 0 0 2px",
    borderStyle: "solid",
    borderColor: new ThemeColor("tile.linkedBorder"),
    overviewRulerColor: new ThemeColor("tile.linkedBorder"),
    overviewRulerLane: OverviewRulerLane.Center,
  });
  private readonly called = window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new ThemeColor("tile.calledLine"),
  });
  /** Listings that came into sight and whose links are on their way. */
  private readonly awaited = new Set<TextEditor>();
  private readonly met = new WeakSet<TextEditor>();
  private readonly disposables: Disposable[];

  constructor(private readonly listings: Listings) {
    this.disposables = [
      this.own,
      this.called,
      window.onDidChangeTextEditorSelection(({ textEditor }) => this.moved(textEditor)),
      window.onDidChangeTextEditorVisibleRanges(({ textEditor }) => this.scrolled(textEditor)),
      // A click into another editor moves its cursor first and makes it the active one then.
      window.onDidChangeActiveTextEditor((editor) => (editor ? this.moved(editor) : this.light())),
      window.onDidChangeVisibleTextEditors((editors) => this.appeared(editors)),
      listings.onDidChange(() => this.arrived()),
      workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration(`${SECTION}.follow`)) this.light();
      }),
    ];
  }

  private moved(editor: TextEditor): void {
    if (editor !== window.activeTextEditor) return;
    const focus = this.light();
    if (focus) this.reveal(editor, focus.source);
  }

  private appeared(editors: readonly TextEditor[]): void {
    for (const editor of this.awaited) if (!editors.includes(editor)) this.awaited.delete(editor);
    for (const editor of editors) {
      if (editor.document.uri.scheme !== SCHEME || this.met.has(editor)) continue;
      this.met.add(editor);
      this.awaited.add(editor);
    }
    this.arrived();
  }

  /** A listing that has just been opened goes where the cursor is, as soon as it is known where that is. */
  private arrived(): void {
    const focus = this.light();
    const ready = [...this.awaited].filter(({ document }) => this.listings.get(document.uri)?.links.some);
    for (const editor of ready) this.awaited.delete(editor);
    const leader = window.activeTextEditor;
    if (focus && leader) this.reveal(leader, focus.source, ready);
  }

  /** The cursor leads while it is in sight; else what is in the middle of the window does. */
  private scrolled(editor: TextEditor): void {
    if (editor !== window.activeTextEditor || !follows()) return;
    const seen = editor.visibleRanges[0];
    if (!seen || seen.contains(editor.selection.active)) return;
    const focus = this.focusAt(editor, Math.floor((seen.start.line + seen.end.line) / 2), REACH);
    if (focus) this.reveal(editor, focus.source);
  }

  /** Light up what belongs to the cursor's line. */
  private light(): Focus | undefined {
    const active = window.activeTextEditor;
    const focus = active && follows() ? this.focusAt(active, active.selection.active.line, 0) : undefined;
    for (const editor of window.visibleTextEditors) {
      const [own, called] = focus ? this.linesOf(editor, focus, editor === active) : [[], []];
      editor.setDecorations(this.own, ranges(own));
      editor.setDecorations(this.called, ranges(called));
    }
    return focus;
  }

  private focusAt(editor: TextEditor, line: number, reach: number): Focus | undefined {
    const { uri } = editor.document;
    const links = this.listings.get(uri)?.links;
    if (links) {
      const [place, ...callers] = links.sources(links.nearestWithSource(line, reach) ?? -1);
      return place && { source: { uri: place.uri, line: place.first }, callers };
    }
    const source = { uri: uri.toString(), line };
    if (uri.scheme === SCHEME || !this.shown().length) return undefined;
    if (reach === 0) return { source, callers: [] };
    const found = this.shown().map((shown) => shown.nearestWithCode(source, reach));
    const nearest = found.find((one) => one !== undefined);
    return nearest && { source: nearest, callers: [] };
  }

  private linesOf(
    editor: TextEditor,
    { source, callers }: Focus,
    active: boolean,
  ): [readonly number[], readonly number[]] {
    const { uri } = editor.document;
    const links = this.listings.get(uri)?.links;
    if (links) {
      const { own, called } = links.of(source);
      return [own, called];
    }
    if (active) return [[], []];
    const here = uri.toString();
    const called = callers.filter((place) => place.uri === here).flatMap(({ first, last }) => span(first, last));
    return [source.uri === here ? [source.line] : [], called];
  }

  /** Scroll the other editors to a source line, where nothing of it is in sight. */
  private reveal(leader: TextEditor, source: SourceLine, editors = window.visibleTextEditors): void {
    for (const editor of editors) {
      if (editor === leader || editor.document === leader.document) continue;
      const [own, called] = this.linesOf(editor, { source, callers: [] }, false);
      const lines = own.length ? own : called;
      if (!lines.length || lines.some((line) => inSight(editor, line))) continue;
      const seen = editor.visibleRanges[0];
      const [first, last] = densest(lines, seen ? seen.end.line - seen.start.line : 0, seen?.start.line ?? 0);
      editor.revealRange(new Range(first, 0, last, 0), TextEditorRevealType.InCenter);
    }
  }

  private shown(): readonly Links[] {
    return window.visibleTextEditors.flatMap(({ document }) => this.listings.get(document.uri)?.links ?? []);
  }

  dispose(): void {
    for (const disposable of this.disposables) disposable.dispose();
  }
}

function ranges(lines: readonly number[]): Range[] {
  return runs(lines).map(([first, last]) => new Range(first, 0, last, 0));
}

function inSight(editor: TextEditor, line: number): boolean {
  return editor.visibleRanges.some((range) => range.start.line <= line && line <= range.end.line);
}

function span(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

// Which lines of a listing belong to which lines of the source, and back. Lines are 0-based.
import type { Location } from "./protocol";

/** A line of a source file. `uri` is as `vscode.Uri.toString` spells it. */
export interface SourceLine {
  readonly uri: string;
  readonly line: number;
}

/** Lines of `uri`, both inclusive. */
export interface SourceLines {
  readonly uri: string;
  readonly first: number;
  readonly last: number;
}

/** Lines of a listing: made from a source line itself, or inlined at it from elsewhere. */
export interface Linked {
  readonly own: readonly number[];
  readonly called: readonly number[];
}

const NONE: Linked = { own: [], called: [] };

export class Links {
  private readonly bySource = new Map<string, Map<number, { own: number[]; called: number[] }>>();
  private readonly places: readonly (readonly SourceLines[])[];

  /**
   * @param lines As `tile/document` gives them: for each line its places, most specific first, each with its call sites after it.
   * @param spell Brings a URI into the form that `SourceLine` has.
   */
  constructor(lines: readonly Location[][][], spell: (uri: string) => string = (uri) => uri) {
    // Only the most specific place counts: what an optimiser merged belongs to many lines, and all of them lit up say nothing.
    this.places = lines.map(([chain]) =>
      (chain ?? []).map(({ uri, range }) => ({ uri: spell(uri), first: range.start.line, last: lastLine(range) })),
    );
    const starts = new Set(this.places.flatMap(([own]) => (own ? [`${own.uri}:${own.first}`] : [])));
    for (const [index, chain] of this.places.entries()) {
      for (const [depth, place] of chain.entries()) {
        const last = depth === 0 && holdsOthers(place, starts) ? place.first : place.last;
        for (let line = place.first; line <= last; line++) {
          const linked = this.entry(place.uri, line);
          const list = depth === 0 ? linked.own : linked.called;
          if (list.at(-1) !== index) list.push(index);
        }
      }
    }
  }

  /** True where any line has a source. */
  get some(): boolean {
    return this.bySource.size > 0;
  }

  /** The listing's lines that belong to a source line. */
  of({ uri, line }: SourceLine): Linked {
    return this.bySource.get(uri)?.get(line) ?? NONE;
  }

  /** The source of a listing's line: its place, then the call sites through which it was inlined. */
  sources(line: number): readonly SourceLines[] {
    return this.places[line] ?? [];
  }

  /** The listing's line with a source that is nearest to `line`, within `reach` lines. */
  nearestWithSource(line: number, reach: number): number | undefined {
    return nearest(line, reach, (index) => this.sources(index).length > 0);
  }

  /** The source line that has instructions and is nearest to a given one, within `reach` lines. */
  nearestWithCode({ uri, line }: SourceLine, reach: number): SourceLine | undefined {
    const found = nearest(line, reach, (index) => this.of({ uri, line: index }).own.length > 0);
    return found === undefined ? undefined : { uri, line: found };
  }

  private entry(uri: string, line: number) {
    const lines = this.bySource.get(uri) ?? new Map<number, { own: number[]; called: number[] }>();
    const entry = lines.get(line) ?? { own: [], called: [] };
    this.bySource.set(uri, lines.set(line, entry));
    return entry;
  }
}

/** A function or a loop: its lines are those of what it holds, and its own is the first. */
function holdsOthers({ uri, first, last }: SourceLines, starts: ReadonlySet<string>): boolean {
  for (let line = first + 1; line <= last; line++) if (starts.has(`${uri}:${line}`)) return true;
  return false;
}

/** A range that ends before the first character of a line does not touch that line. */
function lastLine({ start, end }: Location["range"]): number {
  return Math.max(start.line, end.character === 0 ? end.line - 1 : end.line);
}

function nearest(line: number, reach: number, good: (line: number) => boolean): number | undefined {
  for (let distance = 0; distance <= reach; distance++) {
    if (good(line + distance)) return line + distance;
    if (good(line - distance)) return line - distance;
  }
  return undefined;
}

/** Runs of consecutive numbers of a sorted list, as `[first, last]`. */
export function runs(lines: readonly number[]): [number, number][] {
  const found: [number, number][] = [];
  for (const line of lines) {
    const last = found.at(-1);
    if (last && last[1] === line - 1) last[1] = line;
    else found.push([line, line]);
  }
  return found;
}

/**
 * The part of a sorted list that a window of `height` lines shows most of, as `[first, last]`; among equals the one nearest to `near`.
 * An optimiser scatters a source line: a stray address computation is seldom what is looked for.
 */
export function densest(lines: readonly number[], height: number, near: number): [number, number] {
  let best: [number, number] = [lines[0] as number, lines[0] as number];
  let most = 0;
  for (let start = 0, end = 0; start < lines.length; start++) {
    const first = lines[start] as number;
    while (end < lines.length && (lines[end] as number) <= first + height) end++;
    const closer = Math.abs(first - near) < Math.abs(best[0] - near);
    if (end - start > most || (end - start === most && closer)) best = [first, lines[end - 1] as number];
    most = Math.max(most, end - start);
  }
  return best;
}

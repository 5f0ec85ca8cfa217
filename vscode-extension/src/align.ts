// Where the lines of a listing went when it was made anew.

/**
 * A function from lines of `before` to lines of `after` (0-based): the same instruction where it is still there, else the place
 * between its neighbours. Addresses, scheduling, and line numbers in annotations do not tell instructions apart.
 */
export function align(before: readonly string[], after: readonly string[]): (line: number) => number {
  const from = before.map(identity);
  const to = after.map(identity);
  const target = new Array<number>(from.length).fill(-1);
  for (const [a, b] of anchors(from, to)) target[a] = b;
  spread(from, to, target);
  return (line) => {
    if (after.length === 0) return 0;
    const wanted = Math.max(0, Math.min(line, from.length - 1));
    let previous = wanted;
    while (previous >= 0 && target[previous] === -1) previous--;
    const start = previous < 0 ? -1 : (target[previous] as number);
    let next = wanted;
    while (next < from.length && target[next] === -1) next++;
    const end = next < from.length ? (target[next] as number) : after.length;
    return previous === wanted ? start : Math.max(0, Math.min(start + wanted - previous, end - 1, after.length - 1));
  };
}

function identity(line: string): string {
  return line
    .replace(/\/\*[0-9a-f]{4,}\*\//, "")
    .replace(/\/\* B[-0-9]{6}:\S+ \*\/$/, "")
    .replace(/^(\s*(?:\/\/|;) [^:\s]+):\d+:/, "$1:")
    .trim();
}

/** Lines that occur once on either side, in the longest order that both sides share. */
function anchors(from: readonly string[], to: readonly string[]): [number, number][] {
  const once = (lines: readonly string[]) => {
    const places = new Map<string, number>();
    for (const [index, line] of lines.entries()) places.set(line, places.has(line) ? -1 : index);
    return places;
  };
  const there = once(to);
  const pairs: [number, number][] = [];
  for (const [line, index] of once(from)) {
    const other = there.get(line);
    if (index >= 0 && other !== undefined && other >= 0 && line !== "") pairs.push([index, other]);
  }
  return longestIncreasing(pairs.sort((left, right) => left[0] - right[0]));
}

/** Patience sorting: the longest run of pairs whose second numbers increase. */
function longestIncreasing(pairs: readonly [number, number][]): [number, number][] {
  const tails: number[] = [];
  const before = new Array<number>(pairs.length).fill(-1);
  for (const [index, pair] of pairs.entries()) {
    let low = 0;
    let high = tails.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((pairs[tails[middle] as number] as [number, number])[1] < pair[1]) low = middle + 1;
      else high = middle;
    }
    before[index] = low > 0 ? (tails[low - 1] as number) : -1;
    tails[low] = index;
  }
  const chain: [number, number][] = [];
  for (let index = tails.at(-1) ?? -1; index >= 0; index = before[index] as number) {
    chain.push(pairs[index] as [number, number]);
  }
  return chain.reverse();
}

/** Equal lines next to aligned ones are aligned too, at both ends of the text as well. */
function spread(from: readonly string[], to: readonly string[], target: number[]): void {
  const taken = new Set(target);
  const step = (line: number, other: number) => {
    if (target[line] !== -1 || taken.has(other) || from[line] !== to[other] || other < 0) return;
    target[line] = other;
    taken.add(other);
  };
  for (let line = 0; line < from.length; line++) step(line, line === 0 ? 0 : beside(target[line - 1], 1));
  for (let line = from.length - 1; line >= 0; line--) {
    step(line, line === from.length - 1 ? to.length - 1 : beside(target[line + 1], -1));
  }
}

function beside(line: number | undefined, by: number): number {
  return line === undefined || line === -1 ? -1 : line + by;
}

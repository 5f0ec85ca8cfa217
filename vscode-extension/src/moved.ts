// Where a place of a text is once the text was edited.

interface Place {
  readonly line: number;
  readonly character: number;
}

interface Edit {
  readonly range: { readonly start: Place; readonly end: Place };
  readonly text: string;
}

/** The place after an edit; what was replaced around it leaves it at the beginning of what came. */
export function moved(place: Place, { range: { start, end }, text }: Edit): Place {
  if (before(place, start)) return place;
  if (before(place, end)) return start;
  const lines = text.split("\n");
  const line = place.line + lines.length - 1 - (end.line - start.line);
  if (place.line !== end.line) return { line, character: place.character };
  const last = (lines.at(-1) as string).length + (lines.length === 1 ? start.character : 0);
  return { line, character: last + place.character - end.character };
}

function before(left: Place, right: Place): boolean {
  return left.line < right.line || (left.line === right.line && left.character < right.character);
}

import { expect, test } from "vitest";
import { moved } from "../src/moved";

const at = (line: number, character: number) => ({ line, character });
const edit = (start: [number, number], end: [number, number], text: string) => ({
  range: { start: at(...start), end: at(...end) },
  text,
});

test.each([
  ["after it", edit([5, 9], [7, 0], "x"), at(5, 8)],
  ["lines above it", edit([1, 0], [1, 0], "one\ntwo\n"), at(7, 8)],
  ["lines above it that go", edit([1, 0], [4, 0], ""), at(2, 8)],
  ["before it in its line", edit([5, 0], [5, 2], "    "), at(5, 10)],
  ["a line break before it in its line", edit([5, 4], [5, 4], "\n  "), at(6, 6)],
  ["its line joined to the one above", edit([4, 6], [5, 4], " "), at(4, 11)],
  ["right before it", edit([5, 8], [5, 8], "xy"), at(5, 10)],
  ["around it", edit([5, 4], [5, 20], "other"), at(5, 4)],
])("an edit %s", (_, change, expected) => {
  expect(moved(at(5, 8), change)).toEqual(expected);
});

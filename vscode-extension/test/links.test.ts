import { describe, expect, test } from "vitest";
import { densest, Links, runs } from "../src/links.ts";
import type { Location } from "../src/protocol.ts";

/** `"a:3"`, or `"a:3-5"` for lines 3 to 5. */
function place(text: string): Location {
  const [, uri = "", first, last = first] = /^(\w+):(\d+)(?:-(\d+))?$/.exec(text) ?? [];
  return { uri, range: { start: { line: Number(first), character: 4 }, end: { line: Number(last), character: 9 } } };
}

/** One string a line of the listing: chains parted by `|`, in each the place first, then its call sites. */
function links(...lines: string[]): Links {
  return new Links(
    lines.map((line) => line.split("|").map((chain) => chain.trim().split(" ").filter(Boolean).map(place))),
  );
}

describe("links", () => {
  const listing = links("", "a:3", "b:7 a:4", "a:3", "a:5-6 | a:9", "");

  test.each([
    ["a", 3, [1, 3], []],
    ["a", 4, [], [2]],
    ["b", 7, [2], []],
    ["a", 6, [4], []],
    ["a", 9, [], []],
    ["c", 3, [], []],
  ])("source line %s:%i", (uri, line, own, called) => {
    expect(listing.of({ uri, line })).toEqual({ own, called });
  });

  test.each([
    [0, []],
    [2, ["b:7", "a:4"]],
    [4, ["a:5"]],
    [99, []],
  ])("line %i of the listing", (line, sources) => {
    expect(listing.sources(line).map(({ uri, first }) => `${uri}:${first}`)).toEqual(sources);
  });

  test("what holds other places has its first line only", () => {
    const nested = links("a:2-9", "a:3", "a:5-6", "b:3");
    expect([2, 3, 4, 6, 9].map((line) => nested.of({ uri: "a", line }).own)).toEqual([[0], [1], [], [2], []]);
  });

  test("the nearest lines that have a counterpart", () => {
    expect(listing.nearestWithSource(0, 1)).toBe(1);
    expect(listing.nearestWithSource(0, 0)).toBeUndefined();
    expect(listing.nearestWithCode({ uri: "a", line: 1 }, 2)).toEqual({ uri: "a", line: 3 });
    expect(listing.nearestWithCode({ uri: "a", line: 4 }, 0)).toBeUndefined();
  });

  test("a range that ends at the start of a line does not touch it", () => {
    const range = { start: { line: 2, character: 0 }, end: { line: 3, character: 0 } };
    expect(new Links([[[{ uri: "a", range }]]]).of({ uri: "a", line: 3 }).own).toEqual([]);
  });

  test("URIs are brought into one spelling", () => {
    const upper = new Links([[[place("a:1")]]], (uri) => uri.toUpperCase());
    expect(upper.of({ uri: "A", line: 1 }).own).toEqual([0]);
  });

  test("runs", () => {
    expect(runs([1, 2, 3, 7, 9, 10])).toEqual([
      [1, 3],
      [7, 7],
      [9, 10],
    ]);
    expect(runs([])).toEqual([]);
  });
});

test.each([
  [[3], 10, 0, [3, 3]],
  [[3, 50, 51, 53, 90], 10, 0, [50, 53]],
  [[3, 20, 40], 5, 22, [20, 20]],
  [[3, 4, 20, 21], 0, 100, [21, 21]],
])("densest of %j in %i lines, near %i", (lines, height, near, expected) => {
  expect(densest(lines, height, near)).toEqual(expected);
});

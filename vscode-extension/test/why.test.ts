import { expect, test } from "vitest";
import { why } from "../src/why";

test.each([
  ["missing", "its language server, tile-lsp, was not found", "tile-lsp.installServer"],
  ["starting", "try again in a moment", "tile-lsp.showOutput"],
  ["stopped", "is stopped", "tile-lsp.restartServer"],
  ["failed", "the output says why", "tile-lsp.showOutput"],
] as const)("no server: %s", (life, words, command) => {
  const { message, mends } = why(life, undefined);
  expect(message).toContain(words);
  expect(mends[0]?.command).toBe(command);
});

test.each([
  [new Error("/w/k.py has no kernel 'k'."), "Tile can't say: /w/k.py has no kernel 'k'."],
  ["cut off", "Tile can't say: cut off."],
  [undefined, "Tile can't say: the server gave no answer."],
])("what the server answers: %s", (error, message) => {
  expect(why("running", error).message).toBe(message);
});

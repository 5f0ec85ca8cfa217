import { expect, test } from "vitest";
import { explicit, type Inspected } from "../src/explicit.ts";

test.each<[string, unknown, Inspected | undefined, unknown]>([
  ["a default", true, {}, undefined],
  ["what nobody declared", 3, undefined, undefined],
  ["the user's", false, { globalValue: false }, false],
  ["the default, written", true, { workspaceValue: true }, true],
  ["a list", ["sm_90"], { workspaceFolderValue: ["sm_90"] }, ["sm_90"]],
  ["entries of a table", { a: 1, b: 2, c: 3 }, { globalValue: { a: 1 }, workspaceValue: { b: 2 } }, { a: 1, b: 2 }],
  ["a value that an untrusted workspace may not set", null, { workspaceValue: "/bait" }, null],
])("%s", (_, value, inspected, expected) => {
  expect(explicit({ name: value }, () => inspected)).toEqual(expected === undefined ? {} : { name: expected });
});

// Each sample, line by line, with the scopes of its words: what a theme colours by. `npx vitest run -u` writes the snapshots anew.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import { createOnigScanner, createOnigString, loadWASM } from "vscode-oniguruma";
import { type IGrammar, INITIAL, parseRawGrammar, Registry } from "vscode-textmate";

const root = join(import.meta.dirname, "..");
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const grammars: { language: string; scopeName: string; path: string }[] = manifest.contributes.grammars;

const wasm = loadWASM(readFileSync(createRequire(import.meta.url).resolve("vscode-oniguruma/release/onig.wasm")));
const registry = new Registry({
  onigLib: wasm.then(() => ({ createOnigScanner, createOnigString })),
  loadGrammar: async (scopeName) => {
    const path = grammars.find((grammar) => grammar.scopeName === scopeName)?.path;
    return path ? parseRawGrammar(readFileSync(join(root, path), "utf8"), path) : null;
  },
});

function tokens(grammar: IGrammar, text: string): string {
  let state = INITIAL;
  return text
    .trimEnd()
    .split("\n")
    .map((line) => {
      const found = grammar.tokenizeLine(line, state);
      state = found.ruleStack;
      const words = found.tokens
        .map(({ startIndex, endIndex, scopes }) => ({
          word: line.slice(startIndex, endIndex).trim(),
          scopes: scopes.slice(1),
        }))
        .filter(({ word, scopes }) => word && scopes.length)
        .map(({ word, scopes }) => `    ${word}  ${scopes.join(" ")}`);
      return [line, ...words].join("\n");
    })
    .join("\n");
}

describe("grammars", () => {
  for (const sample of [
    "matmul.nvsass",
    "matmul.ptx",
    "add.amdgcn",
    "matmul.mlir",
    "add.ll",
    "matmul.types",
    "matmul.tir",
  ]) {
    test(sample, async () => {
      const extension = sample.slice(sample.lastIndexOf("."));
      const { id } = manifest.contributes.languages.find((one: { extensions: string[] }) =>
        one.extensions.includes(extension),
      );
      const { scopeName } = grammars.find(({ language }) => language === id) ?? { scopeName: "none" };
      const grammar = await registry.loadGrammar(scopeName);
      const text = readFileSync(join(import.meta.dirname, "grammars", sample), "utf8");
      await expect(tokens(grammar as IGrammar, text)).toMatchFileSnapshot(`__snapshots__/${basename(sample)}.txt`);
    });
  }
});

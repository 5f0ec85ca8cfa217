// The page that shows thread maps.
import type { LayoutResult } from "./protocol";

const HEAD = `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>h2{font:bold 1em var(--vscode-editor-font-family)} svg{max-width:100%;height:auto}</style></head><body>`;

/** Pictures are the server's, as they come; everything else is text. */
export function layoutPage({ layouts }: LayoutResult): string {
  const parts = layouts.map(({ type, facts, svg, problem }) => {
    const lines = [...facts, problem].filter(Boolean).map((line) => `<li>${text(line)}</li>`);
    return `<h2>${text(type)}</h2><ul>${lines.join("")}</ul>${svg}`;
  });
  return `${HEAD}${parts.join("")}</body></html>`;
}

function text(words: string): string {
  return words.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}

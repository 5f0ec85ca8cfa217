// The page that shows thread maps.
import type { LayoutResult } from "./protocol";

// Pictures keep their size, in which their words can be read: the page scrolls. Their boxes are light, so words in them are dark
// whatever the theme; words beside them are the theme's.
const STYLE = `
body{padding:0 16px 16px;color:var(--vscode-editor-foreground)}
h2{font:bold 1em var(--vscode-editor-font-family)}
ul{padding-left:1.5em}
.legend{color:var(--vscode-descriptionForeground)}
.problem{color:var(--vscode-editorWarning-foreground);white-space:pre-wrap}
.old{opacity:.55}
.picture{overflow-x:auto}
svg{display:block;forced-color-adjust:none}
svg>text{fill:var(--vscode-descriptionForeground)}`;

const HEAD = `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>${STYLE}</style></head><body>`;

/**
 * Pictures are the server's, as they come; everything else is text.
 * @param problem Why there is nothing newer; empty where this is what the text stands for.
 */
export function layoutPage({ title, kernel, label, layouts }: LayoutResult, problem = ""): string {
  const of = [title, kernel && `in ${kernel}`, label && `for ${label}`].filter(Boolean).join(" ");
  const parts = layouts.map(({ type, facts, legend, svg, problem: none }) => {
    const lines = [...facts.map((line) => `<li>${text(line)}</li>`), ...(none ? [`<li>${text(none)}</li>`] : [])];
    const reading = legend.map((line) => `<li class="legend">${text(line)}</li>`);
    return `<h2>${text(type)}</h2><ul>${[...lines, ...reading].join("")}</ul><div class="picture">${svg}</div>`;
  });
  const warning = problem ? `<p class="problem">Not up to date: ${text(problem)}</p>` : "";
  return `${HEAD}<p>${text(of)}</p>${warning}<div${problem ? ' class="old"' : ""}>${parts.join("")}</div></body></html>`;
}

function text(words: string): string {
  return words.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}

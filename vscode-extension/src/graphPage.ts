// The page that a control-flow graph is drawn in. It says which block was clicked, and marks the one that it is told of.

const STYLE = `
body{margin:0;padding:8px;font-family:var(--vscode-editor-font-family)}
#problems{white-space:pre-wrap;color:var(--vscode-editorWarning-foreground)}
svg{height:auto}
svg>g>polygon{fill:none}
svg text{fill:var(--vscode-editor-foreground);font-family:var(--vscode-editor-font-family),monospace}
.cluster polygon{fill:none;stroke:var(--vscode-editorIndentGuide-background1,gray)}
.node{cursor:pointer}
.node polygon{fill:var(--vscode-editorWidget-background);stroke:var(--vscode-editorWidget-border,gray)}
.node:hover polygon{stroke:var(--vscode-focusBorder)}
.node.current polygon{fill:var(--vscode-tile-linkedLine);stroke:var(--vscode-focusBorder)}
.edge path{stroke:var(--vscode-editor-foreground)}
.edge polygon{fill:var(--vscode-editor-foreground);stroke:var(--vscode-editor-foreground)}
.edge.back path{stroke:var(--vscode-charts-orange)}
.edge.back polygon{fill:var(--vscode-charts-orange);stroke:var(--vscode-charts-orange)}`;

const SCRIPT = `
const api = acquireVsCodeApi();
const picture = document.getElementById("picture");
const problems = document.getElementById("problems");
let scale = 1, width = 0, title = "";
function resize() {
  const svg = picture.querySelector("svg");
  if (svg) svg.setAttribute("width", Math.round(width * scale));
}
window.addEventListener("message", ({ data }) => {
  if (data.svg !== undefined) {
    picture.innerHTML = data.svg;
    const svg = picture.querySelector("svg");
    width = svg ? svg.viewBox.baseVal.width * 96 / 72 : 0;
    if (svg) svg.removeAttribute("height");
    problems.textContent = data.problems.join("\\n");
    if (data.title !== title) scale = Math.max(0.4, Math.min(1, document.documentElement.clientWidth / width));
    resize();
    if (data.title !== title) picture.querySelector(".node")?.scrollIntoView({ block: "nearest", inline: "center" });
    title = data.title;
  }
  for (const node of picture.querySelectorAll(".node"))
    node.classList.toggle("current", (data.current || []).includes(node.id));
});
picture.addEventListener("click", (event) => {
  const node = event.target.closest(".node");
  if (node) api.postMessage({ block: node.id, listing: event.ctrlKey || event.metaKey });
});
window.addEventListener("wheel", (event) => {
  if (!event.ctrlKey) return;
  event.preventDefault();
  scale = Math.min(4, Math.max(0.1, scale * (event.deltaY < 0 ? 1.1 : 1 / 1.1)));
  resize();
}, { passive: false });
api.postMessage({ ready: true });`;

/** @param nonce What the page's own script is known by; no other runs. */
export function graphPage(nonce: string): string {
  return `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'nonce-${nonce}'">
<style>${STYLE}</style></head><body><div id="problems"></div><div id="picture"></div>
<script nonce="${nonce}">${SCRIPT}</script></body></html>`;
}

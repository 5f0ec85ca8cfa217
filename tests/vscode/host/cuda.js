// CUDA C++ by the same commands as Python's kernels.
const assert = require("node:assert/strict");
const vscode = require("vscode");
const { activate, lineOf, open, replace, run, test, until } = require("./harness.js");

const { commands, languages, window } = vscode;
const SUM = "sum += tileA";

const listing = (wanted) =>
  until("the listing", () =>
    window.visibleTextEditors.find(({ document }) => document.uri.scheme === "tile" && wanted.test(document.getText())),
  );

test("hover: the type of an expression", async () => {
  const { document } = await open("matmul.cu");
  await activate();
  const line = lineOf(document, SUM);
  const place = new vscode.Position(line, document.lineAt(line).text.indexOf("sum") + 1);
  const found = await until("a type", async () => {
    const hovers = await commands.executeCommand("vscode.executeHoverProvider", document.uri, place);
    const text = hovers.flatMap(({ contents }) => contents.map((content) => content.value ?? content)).join("\n");
    return /\bfloat\b/.test(text) && text;
  });
  assert.match(found, /matmul/);
});

test("Show SASS for Kernel opens a listing that is linked to the source", async () => {
  const source = await open("matmul.cu");
  const line = lineOf(source.document, SUM);
  source.selection = new vscode.Selection(line, 0, line, 0);
  await commands.executeCommand("tile-lsp.showSass");
  const { document } = await listing(/\bEXIT ;/);
  assert.match(document.getText(), /SASS of matmul for sm_90/);
  assert.match(document.getText(), /matmul\.cu:\d+: sum \+= tileA[^\n]*\n[^\n]*\b(LDS|FFMA)\b/);
});

test("an error is at its token, and goes with it", async () => {
  const { document } = await open("matmul.cu");
  await replace(document, SUM, "sum += tilA");
  const [error] = await until("the diagnostic", () =>
    languages.getDiagnostics(document.uri).filter(({ message }) => message.includes("tilA")),
  );
  assert.equal(document.getText(error.range), "tilA");
  await replace(document, "sum += tilA", SUM);
  await until("no diagnostic", () => languages.getDiagnostics(document.uri).length === 0);
});

exports.run = run;

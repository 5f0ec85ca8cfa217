// In a workspace that is not trusted nothing of it is executed: what can be known from the text alone is there, the rest says why not.
const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");
const vscode = require("vscode");
const { activate, lineOf, open, run, test, until } = require("./harness.js");

const folder = () => vscode.workspace.workspaceFolders[0].uri.fsPath;

test("the workspace is not trusted", () => {
  assert.equal(vscode.workspace.isTrusted, false);
});

test("kernels are found, and hover says why there are no types", async () => {
  const { document } = await open("trap.py");
  await activate();
  const line = lineOf(document, "def trap");
  const found = await until("hover", async () => {
    const hovers = await vscode.commands.executeCommand("vscode.executeHoverProvider", document.uri, new vscode.Position(line, 5));
    return hovers.flatMap(({ contents }) => contents.map(({ value }) => value)).join("\n");
  });
  assert.match(found, /not trusted/);
});

test("a listing says why it is empty", async () => {
  const editor = await open("trap.py");
  const line = lineOf(editor.document, "def trap");
  editor.selection = new vscode.Selection(line, 5, line, 5);
  await vscode.commands.executeCommand("tile-lsp.showSass");
  const listing = await until("the listing", () =>
    vscode.window.visibleTextEditors.find(({ document }) => document.uri.scheme === "tile" && /trusted/.test(document.getText())),
  );
  assert.doesNotMatch(listing.document.getText(), /EXIT ;/);
});

test("neither the workspace's code nor its environment ran", () => {
  for (const name of ["module-ran", "environment-ran"]) assert.ok(!fs.existsSync(path.join(folder(), name)), name);
});

exports.run = run;

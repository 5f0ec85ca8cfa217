// Show Control-Flow Graph: a picture beside the source, of the stage that was asked for.
const assert = require("node:assert/strict");
const vscode = require("vscode");
const { activate, lineOf, open, run, test, until } = require("./harness.js");

const { commands, window } = vscode;
const tabs = () => window.tabGroups.all.flatMap(({ tabs }) => tabs);
const graph = () => tabs().find(({ input }) => input instanceof vscode.TabInputWebview);

test("draws the graph of a kernel's SASS beside its source", async () => {
  const { document } = await open("vector_add.py");
  await activate();
  await until("the kernel", async () => {
    const line = lineOf(document, "ct.load");
    window.activeTextEditor.selection = new vscode.Selection(line, 0, line, 0);
    await commands.executeCommand("tile-lsp.showControlFlowGraph", "sass");
    return graph();
  });
  assert.match(graph().label, /^SASS Graph: vector_add/);
  assert.equal(window.activeTextEditor.document, document, "the cursor stays where it was");
});

test("is drawn in the same place again", async () => {
  await commands.executeCommand("tile-lsp.showControlFlowGraph", "sass");
  assert.equal(tabs().filter(({ input }) => input instanceof vscode.TabInputWebview).length, 1);
});

exports.run = run;

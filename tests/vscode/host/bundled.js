// No server but the one that the extension brought along.
const assert = require("node:assert/strict");
const vscode = require("vscode");
const { activate, lineOf, open, run, test, until } = require("./harness.js");

const { commands, window } = vscode;

test("types, by the server that was brought along", async () => {
  const { document } = await open("vector_add.py");
  await activate();
  const line = lineOf(document, "x = ct.load");
  await until("a type", async () => {
    const hovers = await commands.executeCommand("vscode.executeHoverProvider", document.uri, new vscode.Position(line, 4));
    return hovers.flatMap(({ contents }) => contents.map(({ value }) => value)).join("\n").includes("Tile[float32,(1024)]");
  });
});

test("what the project's file sets is not undone by defaults of the editor", async () => {
  const { document } = await open("vector_add.py");
  assert.deepEqual(await commands.executeCommand("vscode.executeCodeLensProvider", document.uri, 20), []);
});

test("and SASS", async () => {
  const { document } = await open("vector_add.py");
  await commands.executeCommand("tile.show", { uri: document.uri.toString(), kernel: "vector_add", stage: "sass" });
  const listing = await until("the listing", () =>
    window.visibleTextEditors.find((editor) => editor.document.uri.scheme === "tile" && /\bEXIT ;/.test(editor.document.getText())),
  );
  assert.equal(listing.document.languageId, "nvsass");
});

exports.run = run;

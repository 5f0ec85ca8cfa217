// A workspace of two folders whose modules have the same names: neither folder sees anything of the other's.
const assert = require("node:assert/strict");
const vscode = require("vscode");
const { activate, lineOf, run, test, until } = require("./harness.js");

const { commands, languages, window, workspace } = vscode;
const folder = (name) => workspace.workspaceFolders.find((one) => one.name === name);
const names = () => workspace.workspaceFolders.map(({ name }) => name);
const place = vscode.Uri.joinPath(vscode.Uri.file(workspace.workspaceFile.fsPath), "..");

async function open(name) {
  const document = await workspace.openTextDocument(vscode.Uri.joinPath(place, name, "ops/copy.py"));
  const editor = await window.showTextDocument(document, vscode.ViewColumn.One);
  const line = lineOf(document, "def copy");
  editor.selection = new vscode.Selection(line, 5, line, 5);
  return document;
}

const typed = (document, wanted) =>
  until(`${wanted} in ${document.uri.path}`, async () => {
    const at = new vscode.Position(lineOf(document, "result ="), 5);
    const hovers = await commands.executeCommand("vscode.executeHoverProvider", document.uri, at);
    return hovers.flatMap(({ contents }) => contents.map((one) => one.value ?? one)).join("\n").includes(wanted);
  });

const lens = (document, wanted) =>
  until(`a lens with ${wanted} over ${document.uri.path}`, async () => {
    const lenses = await commands.executeCommand("vscode.executeCodeLensProvider", document.uri, 20);
    return lenses.some(({ command }) => command?.title.startsWith(wanted));
  });

const listing = (wanted) =>
  until(`a listing with ${wanted}`, () =>
    window.visibleTextEditors.find(({ document }) => document.uri.scheme === "tile" && wanted.test(document.getText())),
  );

const change = async (...change) => {
  const changed = new Promise((resolve) => {
    const listening = workspace.onDidChangeWorkspaceFolders(() => {
      listening.dispose();
      resolve();
    });
  });
  assert.ok(workspace.updateWorkspaceFolders(...change));
  await changed;
};

test("types, with the helper that is in the same folder", async () => {
  const one = await open("one");
  await activate();
  await typed(one, "Tile[float32,(128)]");
  await typed(await open("two"), "Tile[float32,(256)]");
  await typed(one, "Tile[float32,(128)]");
});

test("targets are those of the folder's settings", async () => {
  await lens(await open("one"), "sm_90");
  await lens(await open("two"), "sm_100");
});

test("Show SASS for Kernel, of the kernel of that name in the file in front", async () => {
  for (const [name, target] of [["one", "sm_90"], ["two", "sm_100"]]) {
    await open(name);
    await commands.executeCommand("tile-lsp.showSass");
    const { document } = await listing(new RegExp(`SASS of copy for ${target}[^]*\\bEXIT ;`));
    const [origin] = await until("where it comes from", () =>
      commands.executeCommand("vscode.executeDefinitionProvider", document.uri, new vscode.Position(lineOf(document, "STG"), 30)),
    );
    assert.match((origin.uri ?? origin.targetUri).path, new RegExp(`/${name}/`));
  }
});

test("settings that change while it runs are those of their folder", async () => {
  const settings = workspace.getConfiguration("tile-lsp", folder("one").uri);
  await settings.update("targets", ["sm_120"], vscode.ConfigurationTarget.WorkspaceFolder);
  await lens(await open("one"), "sm_120");
  await lens(await open("two"), "sm_100");
});

test("a folder that is added has its own, at once", async () => {
  await change(workspace.workspaceFolders.length, 0, { uri: vscode.Uri.joinPath(place, "three"), name: "three" });
  assert.deepEqual(names(), ["one", "two", "three"]);
  const three = await open("three");
  const [problem] = await until("what its interpreter lacks", () =>
    languages.getDiagnostics(three.uri).filter(({ source }) => source === "tile-lsp"),
  );
  assert.match(problem.message, /three\/\.venv/);
  assert.deepEqual(languages.getDiagnostics((await open("two")).uri), []);
  await typed(await open("two"), "Tile[float32,(256)]");
});

test("a folder that is removed takes nothing with it", async () => {
  await change(names().indexOf("three"), 1);
  const two = await open("two");
  await typed(two, "Tile[float32,(256)]");
  await lens(two, "sm_100");
});

exports.run = run;

// A notebook in VS Code: its cells are one module, and each is edited as a document of its own.
const assert = require("node:assert/strict");
const vscode = require("vscode");
const { activate, lineOf, replace, run, test, until } = require("./harness.js");

const { commands, window, workspace } = vscode;
const IMPORTS = "%load_ext autoreload\nimport cuda.tile as ct";
const HELPER = "def twice(t):\n    '😋'; doubled = t * 2\n    return doubled";
const KERNEL = `# tile-lsp: a=f32[1024] b=f32[1024]
@ct.kernel
def copy(a, b):
    x = ct.load(a, index=(0,), shape=(128,))
    ct.store(b, index=(0,), tile=twice(x))`;

const provide = (provider, ...given) => commands.executeCommand(`vscode.execute${provider}Provider`, ...given);
const cell = (text) => new vscode.NotebookCellData(vscode.NotebookCellKind.Code, text, "python");
const listing = () => window.visibleTextEditors.find(({ document }) => document.uri.scheme === "tile" && /\bEXIT ;/.test(document.getText()));
let notebook;

/** The cell that holds a text. */
const holding = (text) => notebook.getCells().find(({ document }) => document.getText().includes(text)).document;

async function change(...edits) {
  const edit = new vscode.WorkspaceEdit();
  edit.set(notebook.uri, edits);
  assert.ok(await workspace.applyEdit(edit));
}

const hovered = (needle, wanted) =>
  until(`${needle} as ${wanted}`, async () => {
    const document = holding(needle);
    const line = lineOf(document, needle);
    const found = await provide("Hover", document.uri, new vscode.Position(line, document.lineAt(line).text.indexOf(needle)));
    return found.flatMap(({ contents }) => contents.map((one) => one.value ?? one)).join("\n").includes(wanted);
  });

test("opens a notebook", async () => {
  const uri = vscode.Uri.joinPath(workspace.workspaceFolders[0].uri, "vector_add.ipynb");
  const cells = [IMPORTS, HELPER, KERNEL].map((source) => ({ cell_type: "code", source, metadata: {}, outputs: [], execution_count: null }));
  const saved = { nbformat: 4, nbformat_minor: 5, metadata: { language_info: { name: "python" } }, cells };
  await workspace.fs.writeFile(uri, Buffer.from(JSON.stringify(saved)));
  notebook = await workspace.openNotebookDocument(uri);
  await window.showNotebookDocument(notebook);
  await activate();
});

test("hovers, hints and lenses in cells", async () => {
  await hovered("x =", "Tile[float32,(128)]");
  await hovered("doubled =", "Tile[float32,(128)]");
  const kernel = holding("@ct.kernel");
  const hints = await provide("InlayHint", kernel.uri, new vscode.Range(0, 0, 5, 0));
  assert.ok(hints.some(({ position }) => position.line === 3));
  assert.ok(hints.every(({ position }) => position.line < 5));
  const lenses = await until("lenses", () => provide("CodeLens", kernel.uri, 20));
  assert.ok(lenses.some(({ command, range }) => command?.title === "SASS" && range.start.line <= 2));
  assert.deepEqual(await provide("CodeLens", holding("doubled").uri, 20), []);
});

test("Show SASS for Kernel, and links between the listing and the cell", async () => {
  await commands.executeCommand("notebook.focusTop");
  await commands.executeCommand("notebook.cell.edit");
  await until("a cell that is edited", () => window.activeTextEditor?.document.uri.scheme === "vscode-notebook-cell");
  await commands.executeCommand("tile-lsp.showSass");
  const { document } = await until("the listing", listing);
  assert.match(document.getText(), /vector_add\.ipynb:cell 3:5: ct\.store/);
  const stores = await until("the store's instructions", () =>
    provide("Implementation", holding("@ct.kernel").uri, new vscode.Position(4, 4)),
  );
  const { line } = (stores[0].range ?? stores[0].targetRange).start;
  const [place] = await provide("Definition", document.uri, new vscode.Position(line, 0));
  assert.equal((place.uri ?? place.targetUri).toString(), holding("@ct.kernel").uri.toString());
  assert.equal((place.range ?? place.targetRange).start.line, 4);
});

test("cells come, go, and are written in", async () => {
  await change(vscode.NotebookEdit.insertCells(1, [cell("!ls\n\n"), cell("x = (")]));
  await hovered("x = ct", "Tile[float32,(128)]");
  const broken = holding("x = (").uri;
  await until("what is wrong with a cell", () => vscode.languages.getDiagnostics(broken));
  assert.deepEqual(vscode.languages.getDiagnostics(holding("@ct.kernel").uri), []);
  await replace(holding("@ct.kernel"), "shape=(128,)", "shape=(64,)");
  await hovered("doubled =", "Tile[float32,(64)]");
  await change(vscode.NotebookEdit.deleteCells(new vscode.NotebookRange(1, 3)));
  await replace(holding("@ct.kernel"), "shape=(64,)", "shape=(32,)");
  await hovered("doubled =", "Tile[float32,(32)]");
  await change(
    vscode.NotebookEdit.replaceCells(new vscode.NotebookRange(1, 2), [
      new vscode.NotebookCellData(vscode.NotebookCellKind.Markup, "*twice*", "markdown"),
    ]),
  );
  const kernel = holding("@ct.kernel").uri;
  const [problem] = await until("what the kernel lacks", () => vscode.languages.getDiagnostics(kernel));
  assert.match(problem.message, /twice/);
  assert.equal(problem.range.start.line, 4);
});

exports.run = run;

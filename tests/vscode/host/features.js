// What the extension does in a trusted workspace, seen through the API of VS Code.
const assert = require("node:assert/strict");
const vscode = require("vscode");
const { activate, lineOf, open, replace, run, test, until } = require("./harness.js");

const { commands, window } = vscode;
const ADD = "ct.store(c, index=(i,), tile=x + y)";

const provide = (provider, ...given) => commands.executeCommand(`vscode.execute${provider}Provider`, ...given);
const listings = () => window.visibleTextEditors.filter((editor) => editor.document.uri.scheme === "tile");
const place = (line, character = 0) => new vscode.Selection(line, character, line, character);
const text = (editor) => editor.document.getText();
const instruction = (line) => line.replace(/^\s*\/\*\w+\*\/\s*|\s*\/\*.*$/g, "");

async function hover(document, needle, offset = 0) {
  const line = lineOf(document, needle);
  const character = document.lineAt(line).text.indexOf(needle) + offset;
  const found = await provide("Hover", document.uri, new vscode.Position(line, character));
  return found.flatMap((one) => one.contents.map((content) => content.value ?? content)).join("\n");
}

/** The only listing, once it shows real instructions. */
const sass = (wanted = /\bEXIT ;/) => until("the listing", () => listings().find((editor) => wanted.test(text(editor))));

/** Lines of a listing that come from a source line, by the server's word. */
async function linesOf(listing, source, line) {
  const found = await provide("Implementation", source.uri, new vscode.Position(line, 4));
  return found
    .map((one) => ({ uri: one.uri ?? one.targetUri, range: one.range ?? one.targetRange }))
    .filter(({ uri }) => uri.toString() === listing.document.uri.toString())
    .map(({ range }) => range.start.line);
}

test("starts with the server that is in .venv", async () => {
  await open("vector_add.py");
  await activate();
  const all = await commands.getCommands(true);
  for (const name of ["tile-lsp.showSass", "tile-lsp.pinView", "tile.show"]) assert.ok(all.includes(name), name);
});

test("hover: the type of a name", async () => {
  const { document } = await open("vector_add.py");
  const found = await until("a type", async () => {
    const content = await hover(document, "x = ct.load");
    return content.includes("Tile[float32,(1024)]") && content;
  });
  assert.match(found, /vector_add/);
});

test("inlay hints: types at assignments", async () => {
  const { document } = await open("vector_add.py");
  const hints = await until("hints", () => provide("InlayHint", document.uri, new vscode.Range(0, 0, document.lineCount, 0)));
  const labels = hints.map(({ label }) => (typeof label === "string" ? label : label.map(({ value }) => value).join("")));
  assert.ok(labels.some((label) => label.includes("Tile[float32,(1024)]")), labels.join(", "));
});

test("code lenses: the stages, and the active configuration", async () => {
  const { document } = await open("vector_add.py");
  const titles = await until("lenses", async () => {
    const lenses = await provide("CodeLens", document.uri, 20);
    return lenses.map(({ command }) => command?.title ?? "");
  });
  for (const title of ["Types", "PTX", "SASS"]) assert.ok(titles.includes(title), titles.join(" | "));
  assert.ok(titles.some((title) => title.startsWith("sm_90")), titles.join(" | "));
});

test("documents: Show SASS for Kernel opens a listing beside, and leaves the focus", async () => {
  const source = await open("vector_add.py");
  source.selection = place(lineOf(source.document, ADD));
  await commands.executeCommand("tile-lsp.showSass");
  const listing = await sass();
  await until("its language", () => listing.document.languageId === "nvsass");
  assert.equal(listing.viewColumn, vscode.ViewColumn.Two);
  assert.equal(window.activeTextEditor.document.uri.toString(), source.document.uri.toString());
  assert.match(text(listing), /SASS of vector_add for sm_90/);
  assert.match(text(listing), /\bFADD /);
});

test("documents: the lens's command does the same", async () => {
  const { document } = await open("vector_add.py");
  await commands.executeCommand("tile.show", { uri: document.uri.toString(), kernel: "vector_add", stage: "ptx" });
  const listing = await until("PTX", () => listings().find((editor) => text(editor).includes(".visible .entry")));
  assert.equal(listing.document.languageId, "ptx");
  assert.equal(listing.viewColumn, vscode.ViewColumn.Two);
});

test("linking: the cursor's source line scrolls the listing to its instructions", async () => {
  const source = await open("vector_add.py");
  await commands.executeCommand("tile-lsp.showSass");
  const listing = await sass();
  for (const needle of [ADD, "i = ct.bid(0)"]) {
    const line = lineOf(source.document, needle);
    const wanted = await until("links", () => linesOf(listing, source.document, line));
    source.selection = place(line);
    await until(`${needle} in sight`, () => {
      const seen = listing.visibleRanges[0];
      return wanted.some((one) => seen.start.line <= one && one <= seen.end.line);
    });
  }
});

test("linking: an instruction leads to its source line, by definition and by cursor", async () => {
  const source = await open("vector_add.py");
  const listing = await sass();
  const line = lineOf(listing.document, " FADD ");
  const [found] = await provide("Definition", listing.document.uri, new vscode.Position(line, 50));
  const { start } = found.range ?? found.targetRange;
  assert.equal(start.line, lineOf(source.document, ADD));
});

test("linking: scrolling the source scrolls the listing", async () => {
  const source = await open("matmul.py");
  source.selection = place(0);
  const uri = source.document.uri.toString();
  await until("the kernel", async () => (await provide("CodeLens", source.document.uri, 1)).length > 0);
  await commands.executeCommand("tile.show", { uri, kernel: "matmul_persistent", stage: "sass" });
  const listing = await sass(/SASS of matmul_persistent[^]*EXIT ;/);
  const store = source.document.getText().split("\n").findLastIndex((line) => line.includes("ct.store(C"));
  const wanted = await until("links", () => linesOf(listing, source.document, store));
  assert.ok(!wanted.includes(listing.visibleRanges[0].start.line), "it starts at the top");
  source.revealRange(new vscode.Range(store, 0, store, 0), vscode.TextEditorRevealType.InCenter);
  await until("the store in sight", () => {
    const seen = listing.visibleRanges[0];
    return wanted.some((one) => seen.start.line <= one && one <= seen.end.line);
  });
  assert.equal(source.selection.active.line, 0, "the cursor stays");
  await window.tabGroups.close(window.tabGroups.all[1].activeTab);
});

test("diagnostics: a type error at its expression, gone when it is mended", async () => {
  const { document } = await open("vector_add.py");
  const problems = () => vscode.languages.getDiagnostics(document.uri).filter(({ source }) => source === "tile-lsp");
  await replace(document, "tile=x + y", "tile=x + 'y'");
  const [problem] = await until("an error", () => problems().filter(({ severity }) => severity === 0));
  assert.equal(problem.range.start.line, lineOf(document, "tile=x + 'y'"));
  const failed = await until("the listing to say so", () => listings().find((editor) => /error: /.test(text(editor))));
  assert.match(text(failed), /FADD /, "the last good listing stays");
  await replace(document, "tile=x + 'y'", "tile=x + y");
  await until("no error", () => problems().every(({ severity }) => severity !== 0));
  await sass(/^(?![^]*error: )[^]*EXIT ;/);
});

test("refresh: lines that only move keep the listing and its place", async () => {
  const source = await open("vector_add.py");
  const listing = await sass();
  listing.selection = place(lineOf(listing.document, " FADD "), 3);
  const before = text(listing);
  await replace(source.document, "# tile-lsp:", "# one\n# two\n# tile-lsp:");
  await until("new line numbers", () => text(listing) !== before);
  const bare = (listed) => listed.replace(/\.py:\d+/g, ".py");
  assert.equal(bare(text(listing)), bare(before));
  assert.match(listing.document.lineAt(listing.selection.active.line).text, / FADD /);
});

test("refresh: another body, another listing; the cursor stays with its instruction", async () => {
  const source = await open("vector_add.py");
  const listing = await sass();
  const wanted = instruction(listing.document.lineAt(lineOf(listing.document, "SR_CTAID.X")).text);
  listing.selection = place(lineOf(listing.document, "SR_CTAID.X"), 3);
  const version = listing.document.version;
  await replace(source.document, "tile=x + y", "tile=x * y - y");
  await until("another listing", () => listing.document.version > version && / FFMA /.test(text(listing)));
  const cursor = () => instruction(listing.document.lineAt(listing.selection.active.line).text);
  await until(`the cursor at ${wanted}`, () => cursor() === wanted);
  await replace(source.document, "tile=x * y - y", "tile=x + y");
  await until("the first listing", () => !/ FFMA /.test(text(listing)));
});

test("configurations: a view follows the selected one, a pinned view stays", async () => {
  const { document } = await open("vector_add.py");
  const uri = document.uri.toString();
  const following = await sass(/for sm_90/);
  await window.showTextDocument(following.document, { viewColumn: following.viewColumn });
  await until("a pinned listing", async () => {
    await commands.executeCommand("tile-lsp.pinView");
    return listings().some((editor) => editor.document.uri.toString() !== following.document.uri.toString());
  });
  const pinned = listings()[0];
  assert.match(text(pinned), /for sm_90/);
  await open("vector_add.py");
  await commands.executeCommand("tile.selectJob", { uri, kernel: "vector_add", index: 1 });
  await commands.executeCommand("tile.show", { uri, kernel: "vector_add", stage: "sass" });
  await sass(/for sm_100/);
  assert.match(pinned.document.getText(), /for sm_90/);
  await commands.executeCommand("tile.selectJob", { uri, kernel: "vector_add", index: 0 });
  await sass(/for sm_90/);
});

test("arguments: what is assumed is written down by a command", async () => {
  const source = `import cuda.tile as ct\n\n\n@ct.kernel\ndef twice(a, b):\n    ct.store(b, index=(0,), tile=2 * ct.load(a, index=(0,), shape=(64,)))\n`;
  const folder = vscode.workspace.workspaceFolders[0].uri;
  await vscode.workspace.fs.writeFile(vscode.Uri.joinPath(folder, "assumed.py"), Buffer.from(source));
  const { document } = await open("assumed.py");
  await until("the arguments", async () => {
    await commands.executeCommand("tile-lsp.pinArguments");
    return /# tile-lsp: a=\S+ b=\S+\n@ct\.kernel/.test(document.getText());
  });
  await commands.executeCommand("workbench.action.files.revert");
});

test("settings: a code action opens the page that has ours", async () => {
  const { document } = await open("vector_add.py");
  const line = lineOf(document, ADD);
  const actions = await until("actions", () => provide("CodeAction", document.uri, new vscode.Range(line, 4, line, 4), "source.tile.settings"));
  const { command, arguments: given } = actions[0].command;
  await commands.executeCommand(command, ...given);
  const tab = await until("the page", () => window.tabGroups.all.flatMap(({ tabs }) => tabs).find(({ label }) => label === "Settings"));
  await window.tabGroups.close(tab);
});

test("restart: another server takes over the listing", async () => {
  const { document } = await open("vector_add.py");
  await sass();
  await commands.executeCommand("tile-lsp.restartServer");
  await until("a type", async () => (await hover(document, "x = ct.load")).includes("Tile[float32,(1024)]"));
  const listing = await sass();
  const line = lineOf(document, ADD);
  await until("links", () => linesOf(listing, document, line));
});

exports.run = run;

// A Python that lacks the compiler: the diagnostic says what installs it, a quick fix runs that and has it tried again.
const assert = require("node:assert/strict");
const vscode = require("vscode");
const { activate, lineOf, open, run, test, until } = require("./harness.js");

const { commands, languages } = vscode;
const problems = (document) => languages.getDiagnostics(document.uri).filter(({ source }) => source === "tile-lsp");

test("what is missing is said with the command that installs it, which a quick fix runs", async () => {
  const { document } = await open("vector_add.py");
  await activate();
  const [problem] = await until("what is missing", () => problems(document));
  assert.match(problem.message, /cuda-tile is not installed in \S+\.venv\/bin\/python\n\S+ -m pip install 'cuda-tile/);
  const offered = await commands.executeCommand("vscode.executeCodeActionProvider", document.uri, problem.range, "quickfix");
  const titles = offered.map(({ title }) => title);
  assert.ok(titles.some((title) => title.startsWith("Try again")), titles.join("\n"));
  const install = offered.find(({ title }) => title.startsWith("Run in a terminal: "));
  assert.ok(install, titles.join("\n"));
  await commands.executeCommand(install.command.command, ...install.command.arguments);
  const at = new vscode.Position(lineOf(document, "x = ct.load"), 4);
  await until("a type", async () => {
    const hovers = await commands.executeCommand("vscode.executeHoverProvider", document.uri, at);
    return hovers.flatMap(({ contents }) => contents.map(({ value }) => value)).join("\n").includes("Tile[float32,(1024)]");
  });
  await until("no problem any more", () => problems(document).length === 0);
});

exports.run = run;

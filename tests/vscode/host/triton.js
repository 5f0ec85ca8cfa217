// Triton by the same commands, for NVIDIA's targets and for AMD's.
const assert = require("node:assert/strict");
const vscode = require("vscode");
const { activate, lineOf, open, replace, run, test, until } = require("./harness.js");

const { commands, languages, window } = vscode;
const SUM = "output = x + y";

const listing = (wanted) =>
  until("the listing", () =>
    window.visibleTextEditors.find(({ document }) => document.uri.scheme === "tile" && wanted.test(document.getText())),
  );

const hover = (document, place, wanted) =>
  until(`a hover with ${wanted}`, async () => {
    const hovers = await commands.executeCommand("vscode.executeHoverProvider", document.uri, place);
    const text = hovers.flatMap(({ contents }) => contents.map((content) => content.value ?? content)).join("\n");
    return wanted.test(text) && text;
  });

const at = (document, text) => {
  const line = lineOf(document, text);
  return new vscode.Position(line, document.lineAt(line).text.indexOf(text) + 1);
};

test("hover: the type of a tensor", async () => {
  const { document } = await open("add.py");
  await activate();
  await hover(document, at(document, SUM), /tensor<1024xfp32>/);
});

test("Show SASS for Kernel opens SASS for NVIDIA, AMDGCN for AMD, each of which explains itself", async () => {
  const source = await open("add.py");
  source.selection = new vscode.Selection(at(source.document, SUM), at(source.document, SUM));
  await commands.executeCommand("tile-lsp.showSass");
  const nvidia = await listing(/\bEXIT ;/);
  assert.match(nvidia.document.getText(), /add\.py:\d+: output = x \+ y\n[^\n]*\bFADD\b/);
  await open("add.py");
  await replace(source.document, "target=sm_90", "target=gfx942");
  await until("the target's own code", async () => {
    await open("add.py");
    await commands.executeCommand("tile-lsp.showSass");
    return window.visibleTextEditors.some(({ document }) => document.languageId === "amdgcn");
  });
  const { document } = await listing(/\bs_endpgm\b/);
  assert.match(document.getText(), /AMDGCN of add for gfx942/);
  assert.match(document.getText(), /add\.py:\d+: output = x \+ y\n(\t[^;\n]*\n)*\tv_(pk_)?add_f32/);
  await hover(document, at(document, "s_endpgm"), /Ends the wave/);
});

test("an error is at its token, and goes with it", async () => {
  const { document } = await open("add.py");
  await replace(document, SUM, "output = x + z");
  const [error] = await until("the diagnostic", () =>
    languages.getDiagnostics(document.uri).filter(({ message }) => message.includes("z")),
  );
  assert.equal(document.getText(error.range), "z");
  await replace(document, "output = x + z", SUM);
  await until("no diagnostic", () => languages.getDiagnostics(document.uri).length === 0);
});

exports.run = run;

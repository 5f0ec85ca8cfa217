// A few lines instead of a test framework: named tests, in order, each with a limit; the first line of a failure says which.
const assert = require("node:assert/strict");
const vscode = require("vscode");

const LIMIT = 600_000;
const tests = [];

/** Declare a test. */
exports.test = (name, body) => tests.push({ name, body });

exports.run = async () => {
  let failed = 0;
  for (const { name, body } of tests) {
    let timer;
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no result in ${LIMIT / 1000} s`)), LIMIT);
    });
    try {
      await Promise.race([body(), late]);
      console.log(`ok      ${name}`);
    } catch (error) {
      failed++;
      console.log(`FAILED  ${name}\n${error.stack ?? error}`);
    } finally {
      clearTimeout(timer);
    }
  }
  if (failed) throw new Error(`${failed} of ${tests.length} failed`);
};

/**
 * Ask again until the answer is there: what the server finds out in the background comes when it comes.
 * `what` is for the message; `question` answers undefined, false or an empty list while there is nothing.
 */
exports.until = async (what, question, limit = 120_000) => {
  const end = Date.now() + limit;
  let answer;
  while (Date.now() < end) {
    answer = await question();
    if (Array.isArray(answer) ? answer.length : answer) return answer;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.fail(`${what}: still not after ${limit / 1000} s`);
};

/** A file of the workspace, shown in the first column. */
exports.open = async (name) => {
  const uri = vscode.Uri.joinPath(vscode.workspace.workspaceFolders[0].uri, name);
  const document = await vscode.workspace.openTextDocument(uri);
  return vscode.window.showTextDocument(document, vscode.ViewColumn.One);
};

/** Line (0-based) of the first line that holds `text`. */
exports.lineOf = (document, text) => {
  const line = document.getText().split("\n").findIndex((one) => one.includes(text));
  assert.ok(line >= 0, `no line with ${JSON.stringify(text)}`);
  return line;
};

/** Replace the first `before` of a document. */
exports.replace = async (document, before, after) => {
  const start = document.getText().indexOf(before);
  assert.ok(start >= 0, `no ${JSON.stringify(before)}`);
  const edit = new vscode.WorkspaceEdit();
  edit.replace(document.uri, new vscode.Range(document.positionAt(start), document.positionAt(start + before.length)), after);
  await vscode.workspace.applyEdit(edit);
};

exports.activate = async () => {
  const extension = vscode.extensions.getExtension("tile-lsp.tile-lsp");
  assert.ok(extension, "the extension is there");
  return extension.activate();
};

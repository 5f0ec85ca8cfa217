// Runs a test module in VS Code's extension host: node run_host.mjs PORT FOLDER EXTENSION MODULE. Exit status 0: all passed.
import { url, withPage } from "./browser.mjs";

const [port, folder, extension, module] = process.argv.slice(2);
const remote = (path) => `vscode-remote://127.0.0.1:${port}${path}`;
const LIMIT = 1_180_000;

process.exitCode = await withPage(async (page) => {
  let finish;
  const finished = new Promise((resolve) => {
    finish = resolve;
  });
  await page.exposeFunction("codeAutomationLog", (type, args) => {
    // VS Code's own complaints, of log files that it can't write, say nothing of us.
    if (type === "info" || type === "log") console.log(...args);
  });
  await page.exposeFunction("codeAutomationExit", (code) => finish(code));
  await page.goto(
    url(port, folder, [
      ["extensionDevelopmentPath", remote(extension)],
      ["extensionTestsPath", remote(module)],
      ["skipWelcome", "true"],
    ]),
  );
  const late = setTimeout(() => {
    console.log(`no answer from the extension host in ${LIMIT / 1000} s`);
    finish(1);
  }, LIMIT);
  const code = await finished;
  clearTimeout(late);
  return code;
});

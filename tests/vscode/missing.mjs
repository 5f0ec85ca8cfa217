// Without a server: node missing.mjs PORT FOLDER PICTURES PYTHON, which is the version of the interpreter that there is. It is offered to someone who opens a kernel, and to nobody else.
import assert from "node:assert/strict";
import { url, withPage } from "./browser.mjs";
import { Workbench } from "./workbench.mjs";

const [port, folder, pictures, python] = process.argv.slice(2);

await withPage(
  async (page) => {
    const vscode = new Workbench(page, pictures);
    const offer = page.locator(".notifications-toasts .notification-list-item", { hasText: "language server" });
    const status = page.locator(".statusbar-item", { hasText: "Tile: no server" });
    await page.goto(url(port, folder));
    await page.locator(".monaco-workbench").waitFor();

    await vscode.openFile("plain.py");
    await status.waitFor();
    assert.equal(await offer.count(), 0, "a file without kernels is left alone");

    await vscode.openFile("kernel.py");
    await offer.waitFor();
    const buttons = (await offer.locator(".monaco-button").allInnerTexts()).map((text) => text.trim());
    if (python === "3.10") {
      assert.deepEqual(buttons, ["Choose interpreter", "Open docs"]);
      await offer.filter({ hasText: "needs Python 3.11 or newer" }).waitFor();
      return;
    }
    assert.deepEqual(buttons, ["Install tile-lsp into .venv/bin/python", "Choose interpreter", "Open docs"]);
    await vscode.picture("missing");

    await offer.locator(".monaco-button", { hasText: "Install tile-lsp into" }).click();
    await status.waitFor({ state: "detached" });
    await page.locator(".statusbar-item", { hasText: "Tile" }).waitFor();
    await vscode.group(0).lens("SASS").waitFor();
  },
  { pictures },
);

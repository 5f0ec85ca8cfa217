// The status bar in a workspace of two folders: node folders.mjs PORT WORKSPACE PICTURES.
import { url, withPage } from "./browser.mjs";
import { Workbench } from "./workbench.mjs";

const [port, workspace, pictures] = process.argv.slice(2);

await withPage(
  async (page) => {
    const vscode = new Workbench(page, pictures);
    const status = (text) => page.locator(".statusbar-item", { hasText: text }).waitFor();
    await page.goto(url(port, workspace));
    await page.locator(".monaco-workbench").waitFor();
    for (const [folder, target] of [["one", "sm_90"], ["two", "sm_100"], ["one", "sm_90"]]) {
      await vscode.openFile("copy.py", folder);
      await vscode.group(0).click("= scale(tile)");
      await status(`Tile: ${target}`);
    }
    await vscode.picture("folders");
  },
  { pictures },
);

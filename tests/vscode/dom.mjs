// What a person sees: node dom.mjs PORT FOLDER PICTURES. Opens the example, hovers, shows SASS, follows the cursor; writes pictures.
import assert from "node:assert/strict";
import { url, withPage } from "./browser.mjs";
import { Workbench } from "./workbench.mjs";

const [port, folder, pictures] = process.argv.slice(2);

await withPage(
  async (page) => {
    const vscode = new Workbench(page, pictures);
    await page.goto(url(port, folder));
    await page.locator(".monaco-workbench").waitFor();
    await page.mouse.move(25, 500);

    await vscode.openFile("matmul.py");
    await vscode.command("View: Toggle Primary Side Bar Visibility");
    const source = vscode.group(0);
    await source.lens("SASS").waitFor();
    await source.line("Tile[float32,(128,128)]").first().waitFor();
    await vscode.picture("types");

    await source.hover("ct.mma(a, b, acc)", "mma", "Tile[float32,(128,128)]");
    await vscode.picture("hover");
    await vscode.closeHover();

    // Only what cuTile has is offered.
    assert.deepEqual(await vscode.offered(">Tile: Show", "for Kernel"), [
      "Tile: Show PTX for Kernel",
      "Tile: Show SASS for Kernel",
      "Tile: Show Tile IR for Kernel",
      "Tile: Show Typed IR for Kernel",
    ]);

    await source.click("ct.store(C, index");
    await vscode.command("Tile: Show SASS for Kernel");
    const listing = vscode.group(1);
    const stores = await vscode.until("the listing, where the cursor is", async () => {
      const lines = await listing.lit();
      return lines.length > 0 && lines;
    });
    assert.ok(
      stores.some((line) => line.includes("ct.store(C, index")),
      `the store's instructions: ${stores.join("\n")}`,
    );

    await source.click("ct.mma(a, b, acc)");
    await vscode.until("the instructions of another line", async () => (await listing.lit()).join() !== stores.join());
    await listing.wheel("HGMMA");
    const lit = await vscode.until("instructions that are lit up", async () => {
      const lines = await listing.lit();
      return lines.some((line) => line.includes("HGMMA")) && lines;
    });
    assert.ok(
      lit.every((line) => !line.includes("UTMASTG")),
      `only those of the line: ${lit.join("\n")}`,
    );
    await vscode.picture("sass");

    await listing.click("HGMMA");
    await vscode.until("the source line that is lit up", async () =>
      (await source.lit()).some((line) => line.includes("ct.mma(a, b, acc)")),
    );
    await listing.hover("HGMMA", "HGMMA", "ct.mma");
    await vscode.picture("instruction");
    await vscode.closeHover();

    await source.click("ct.store(C, index");
    await listing.wheel("UTMASTG");
    await vscode.until("the instructions of another line", async () => (await listing.lit()).some((line) => line.includes("UTMASTG")));

    await vscode.command("Tile: Compare Stages Side by Side");
    await vscode.accept("PTX");
    for (const index of [1, 2]) {
      await vscode.until("both stages lit up", async () => (await vscode.group(index).lit()).length > 0);
    }
    await source.click("ct.mma(a, b, acc)");
    for (const stage of [vscode.group(1), vscode.group(2)]) {
      await stage.wheel(/HGMMA|wgmma\.mma/);
      await vscode.until("both stages lit up", async () =>
        (await stage.lit()).some((line) => /HGMMA|wgmma\.mma/.test(line)),
      );
    }
    await vscode.picture("compare");

    await vscode.page.reload();
    for (const index of [1, 2]) {
      await vscode.until("the stages to come back", async () => (await vscode.group(index).lit()).length > 0);
    }

    await source.lens("sm_90 .*1 of 2.*").waitFor();

    await source.type("ct.mma(a, b, acc)", "acc = ct.mma(a, b, a)");
    await vscode.until("the tab to say that there is an error", async () =>
      (await page.locator(".tab .monaco-icon-label[aria-label*='error'], .tab[aria-label*='error']").count()) > 0,
    );
    await vscode.group(2).top();
    await vscode.group(2).line("error:").first().waitFor();
    await vscode.picture("error");
  },
  { pictures, width: 1680, height: 920 },
);

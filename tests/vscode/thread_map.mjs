// Thread maps and graphs as a person sees them: node thread_map.mjs PORT FOLDER PICTURES. The folder is that of Triton's examples; VS Code
// takes its theme from the system.
import assert from "node:assert/strict";
import { url, withPage } from "./browser.mjs";
import { Workbench } from "./workbench.mjs";

const [port, folder, pictures] = process.argv.slice(2);
const THEMES = {
  dark: { colorScheme: "dark", forcedColors: "none" },
  light: { colorScheme: "light", forcedColors: "none" },
  "high-contrast": { colorScheme: "dark", forcedColors: "active" },
  "high-contrast-light": { colorScheme: "light", forcedColors: "active" },
};

await withPage(
  async (page) => {
    const vscode = new Workbench(page, pictures);
    const source = vscode.group(0);
    // VS Code keeps a webview's page in a frame within a frame.
    const map = page.frameLocator("iframe.webview.ready").frameLocator("iframe#active-frame");
    const heading = (type) => map.locator("h2", { hasText: type }).first().waitFor();
    await page.emulateMedia(THEMES.dark);
    await page.goto(url(port, folder));
    await page.locator(".monaco-workbench").waitFor();
    await vscode.openFile("matmul.py");
    await source.lens("SASS").waitFor();

    await source.point("= tl.dot(", "acc");
    await vscode.command("Tile: Show Thread Map");
    await page.locator(".tab", { hasText: "Thread Map: acc" }).waitFor();
    await heading("tensor<128x128xf32, #mma>");
    await map.locator("p", { hasText: "acc in matmul for sm_90" }).waitFor();
    await map.locator("li", { hasText: "drawn: rows 0–63 of 128, columns 0–127 of 128" }).waitFor();

    // The accumulator of another tile: the picture follows the edit, and the name, which is a line further down by now.
    await source.type("sizes = [", "sizes = [(128, 64, 64, 4, 4)]");
    await heading("tensor<128x64xf32, #mma>");
    assert.equal(await map.locator("h2").count(), 1, "only what the name stands for");

    for (const [theme, media] of Object.entries(THEMES)) {
      await page.emulateMedia(media);
      await map.locator(`body.vscode-${theme}`).waitFor();
      await vscode.picture(`thread-map-${theme}`);
      for (const { words, height, contrast } of await map.locator("svg text").evaluateAll(measure)) {
        assert.ok(height >= 9, `${words} is ${height} pixels high`);
        assert.ok(contrast >= 4.5, `${words} has a contrast of ${contrast} in ${theme}`);
      }
    }

    await page.emulateMedia(THEMES.dark);
    await source.type("= tl.dot(", "acc = tl.dot(a, b, missing)");
    await map.locator(".problem", { hasText: "missing" }).waitFor();
    await heading("tensor<128x64xf32, #mma>");
    await source.type("= tl.dot(", "acc = tl.dot(a, b, acc)");
    await map.locator(".problem").waitFor({ state: "detached" });

    await source.point("stride_am,", "stride_am");
    await vscode.command("Tile: Show Thread Map");
    const message = page.locator(".notifications-toasts .notification-list-item", { hasText: "There is no thread map here" });
    await message.filter({ hasText: "stride_am is int32: only tensors lie over threads" }).waitFor();

    await vscode.command("Tile: Show Control-Flow Graph");
    await vscode.accept("SASS");
    await page.locator(".tab", { hasText: "SASS Graph: matmul" }).waitFor();
    const graph = page.frameLocator("iframe.webview.ready:visible").frameLocator("iframe#active-frame");
    await graph.locator(".node").first().waitFor();
    await vscode.picture("graph");
    await graph.locator(".node", { hasText: "entry" }).click();
    await page.locator(".statusbar-item", { hasText: /^Ln (?!40\b)/ }).waitFor();
  },
  { pictures, width: 1680, height: 920 },
);

/** Of texts in a picture, those that are in sight: how high they are, and how they stand out from what is under them. */
function measure(texts) {
  const luminance = (color) => {
    const [red, green, blue] = color.match(/[\d.]+/g).map((part) => {
      const value = Number(part) / 255;
      return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const background = getComputedStyle(document.documentElement).getPropertyValue("--vscode-editor-background").trim();
  const probe = document.createElement("i");
  return texts.slice(0, 400).map((text) => {
    const box = text.getBoundingClientRect();
    const under = [...document.querySelectorAll("svg rect")].find((rect) => {
      const { left, right, top, bottom } = rect.getBoundingClientRect();
      return left <= box.x && box.right <= right && top <= box.y && box.bottom <= bottom + 1;
    });
    probe.style.cssText = `forced-color-adjust: none; color: ${background}`;
    document.body.append(probe);
    const ground = under ? getComputedStyle(under).fill : getComputedStyle(probe).color;
    const pair = [luminance(getComputedStyle(text).fill), luminance(ground)].sort((one, other) => other - one);
    return { words: text.textContent, height: box.height, contrast: (pair[0] + 0.05) / (pair[1] + 0.05) };
  });
}

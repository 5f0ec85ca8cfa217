// Headless Chromium with a page of VS Code in it. Needs VSCODE_TEST: the folder that install.sh filled.
import { createRequire } from "node:module";

const { chromium } = createRequire(`${process.env.VSCODE_TEST}/`)("playwright-core");

const ARGUMENTS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--disable-dev-shm-usage",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Milliseconds after which a wait has failed: long, for machines with other work. No test is faster or slower for it. */
const PATIENCE = 120_000;

/** Run `work` with a page of the given size; screenshots of failures go to `pictures`. */
export async function withPage(work, { width = 1500, height = 860, pictures } = {}) {
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ARGUMENTS });
  const page = await browser.newPage({ viewport: { width, height } });
  page.setDefaultTimeout(PATIENCE); // for navigation too
  try {
    return await work(page);
  } catch (error) {
    if (pictures) await page.screenshot({ path: `${pictures}/failure.png` });
    throw error;
  } finally {
    await browser.close();
  }
}

/** @param place A folder, or a file that names several. */
export const url = (port, place, payload = []) =>
  `http://127.0.0.1:${port}/?${place.endsWith(".code-workspace") ? "workspace" : "folder"}=${encodeURIComponent(place)}&payload=${encodeURIComponent(JSON.stringify(payload))}`;

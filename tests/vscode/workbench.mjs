// The window of VS Code, as a person handles it.
import assert from "node:assert/strict";

/** The parts of the window that the test touches. */
export class Workbench {
  constructor(page, pictures) {
    this.page = page;
    this.pictures = pictures;
  }

  group(index) {
    return new Group(this, this.page.locator(".editor-group-container").nth(index));
  }

  /** @param folder What tells it from others of its name. */
  async openFile(name, folder = "") {
    await this.quickInput(name);
    const row = this.page.locator(".quick-input-list .monaco-list-row", { hasText: name }).filter({ hasText: folder });
    await row.first().click();
    await this.group(0).root.locator(".view-lines .view-line").first().waitFor();
  }

  async command(title) {
    await this.quickInput(`>${title}`);
    await this.page.locator(".quick-input-list .monaco-list-row", { hasText: title }).first().waitFor();
    await this.page.keyboard.press("Enter");
  }

  /** Titles in the palette that end as given. */
  async offered(text, end) {
    await this.quickInput(text);
    const rows = this.page.locator(".quick-input-list .monaco-list-row .label-name");
    await rows.first().waitFor();
    const titles = await this.until("titles", async () => {
      const found = (await rows.allInnerTexts()).map((title) => title.replaceAll("\u00a0", " ").trim());
      return found.length > 1 && found;
    });
    await this.page.keyboard.press("Escape");
    return titles.filter((title) => title.endsWith(end)).sort();
  }

  async quickInput(text) {
    await this.page.keyboard.press("F1");
    const input = this.page.locator(".quick-input-widget input.input");
    await input.waitFor({ state: "visible" });
    await input.fill(text);
  }

  /** Accept a list of choices that holds `row`. */
  async accept(row) {
    await this.page.locator(".quick-input-list .monaco-list-row", { hasText: row }).first().waitFor();
    await this.page.keyboard.press("Enter");
  }

  async closeHover() {
    await this.page.keyboard.press("Escape");
    await this.page.mouse.move(25, 500); // where nothing has a tooltip
    await this.page.locator(".monaco-hover:visible").first().waitFor({ state: "hidden" });
  }

  /** Once what was done is on the screen. */
  async drawn() {
    await this.page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  }

  async until(what, question, { limit = 120_000, pause = 100 } = {}) {
    const end = Date.now() + limit;
    while (Date.now() < end) {
      const answer = await question();
      if (answer) return answer;
      await this.page.waitForTimeout(pause);
    }
    assert.fail(`${what}: still not after ${limit / 1000} s`);
  }

  /** Once nothing moves any more. */
  async picture(name) {
    await this.page.evaluate(() => document.fonts.ready);
    let last = "";
    await this.until("a picture that stands still", async () => {
      const now = (await this.page.screenshot({ animations: "disabled" })).toString("base64");
      const same = now === last;
      last = now;
      return same;
    });
    await this.page.screenshot({ animations: "disabled", path: `${this.pictures}/${name}.png` });
  }
}

/** One column of editors. */
class Group {
  constructor(workbench, root) {
    this.workbench = workbench;
    this.page = workbench.page;
    this.root = root;
  }

  /** Lines that hold a text; blanks are no-break spaces in the editor. */
  line(text) {
    return this.root.locator(".view-line", { hasText: new RegExp(pattern(text)) });
  }

  lens(title) {
    return this.root.locator(".codelens-decoration a", { hasText: new RegExp(`^${title}$`) }).first();
  }

  async click(text) {
    await this.reveal(text);
    await this.line(text).first().click({ position: { x: 120, y: 5 } });
  }

  /** Scroll to a text, by searching for it. */
  async reveal(text) {
    if ((await this.seen()).some((line) => line.text.includes(text))) return;
    await this.focus();
    await this.page.keyboard.press("Control+f");
    const input = this.root.locator(".find-widget textarea").first();
    await input.waitFor({ state: "visible" });
    await input.fill(text);
    await this.page.keyboard.press("Enter");
    await this.page.keyboard.press("Escape");
    await this.line(text).first().waitFor();
  }

  /** Click at the beginning of a line in the middle of the window, where nothing covers it and nothing is opened. */
  async focus() {
    const { x, y } = await this.root.locator(".editor-instance").first().evaluate((editor) => {
      const { top, height } = editor.querySelector(".overflow-guard").getBoundingClientRect();
      const boxes = [...editor.querySelectorAll(".view-line")].map((line) => line.getBoundingClientRect());
      const seen = boxes.filter((box) => box.top > top && box.bottom < top + height);
      const middle = seen.sort((one, other) => one.top - other.top)[seen.length >> 1];
      return { x: middle.left + 2, y: middle.top + middle.height / 2 };
    });
    await this.page.mouse.click(x, y);
  }

  /** Scroll with the wheel, up and down, the cursor left alone, until a line with a text is in the middle half of the window. */
  async wheel(pattern) {
    const wanted = typeof pattern === "string" ? (text) => text.includes(pattern) : (text) => pattern.test(text);
    const box = await this.root.locator(".overflow-guard").first().boundingBox();
    await this.page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    let step = 360; // less than half of the window, so that nothing is leapt over
    let [top, still] = [undefined, 0];
    await this.workbench.until(`${pattern} in sight`, async () => {
      const seen = await this.seen();
      const heights = seen.filter((line) => wanted(line.text)).map((line) => line.middle);
      if (heights.some((height) => height > 0.25 && height < 0.75)) return true;
      still = seen[0]?.text === top ? still + 1 : 0;
      if (still > 9) [step, still] = [-step, 0]; // an end of the text
      top = seen[0]?.text;
      if (heights.length) step = Math.sign(heights[0] - 0.5) * Math.abs(step);
      await this.page.mouse.wheel(0, step);
      await this.workbench.drawn();
      return false;
    }, { pause: 0 });
    await this.page.mouse.move(25, 500);
  }

  /** Lines that are really in sight, from the top; VS Code draws some beyond. `middle` is a line's height, 0 (top) to 1. */
  async seen() {
    const lines = await this.root.locator(".editor-instance").first().evaluate((editor) => {
      const { top, height } = editor.querySelector(".overflow-guard").getBoundingClientRect();
      return [...editor.querySelectorAll(".view-line")].map((line) => {
        const box = line.getBoundingClientRect();
        return { text: line.textContent.replaceAll("\u00a0", " "), middle: (box.top + box.height / 2 - top) / height };
      });
    });
    return lines.filter(({ middle }) => middle > 0 && middle < 1).sort((left, right) => left.middle - right.middle);
  }

  /** To the first line. */
  async top() {
    const box = await this.root.boundingBox();
    await this.page.mouse.click(box.x + 200, box.y + 200);
    await this.page.keyboard.press("Control+Home");
  }

  /** Point at a word of a line, until a hover says what is expected. */
  async hover(line, word, expected) {
    const { x, y } = await this.place(line, word);
    await this.page.mouse.move(x, y);
    await this.page.mouse.move(x + 1, y);
    await this.page.locator(".monaco-hover:visible", { hasText: new RegExp(pattern(expected)) }).first().waitFor();
  }

  /** Put the cursor in a word of a line. */
  async point(line, word) {
    const { x, y } = await this.place(line, word);
    await this.page.mouse.click(x, y);
  }

  /** Where the middle of a word of a line is. */
  async place(line, word) {
    await this.reveal(line);
    return this.line(line)
      .first()
      .evaluate((root, wanted) => {
        const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
        while (walker.nextNode()) {
          const start = walker.currentNode.data.indexOf(wanted);
          if (start < 0) continue;
          const range = document.createRange();
          range.setStart(walker.currentNode, start);
          range.setEnd(walker.currentNode, start + wanted.length);
          const { left, top, width, height } = range.getBoundingClientRect();
          return { x: left + width / 2, y: top + height / 2 };
        }
        throw new Error(`no ${wanted} in ${root.textContent}`);
      }, word);
  }

  /** Replace a line's text, its indentation left alone. */
  async type(line, after) {
    await this.click(line);
    await this.page.keyboard.press("Home");
    await this.page.keyboard.press("Shift+End");
    await this.page.keyboard.type(after);
  }

  /** Texts of the lines in sight that are lit up as linked with the cursor's. */
  async lit() {
    return this.root.locator(".editor-instance").first().evaluate((editor) => {
      const border = "rgb(79, 168, 224)";
      const tops = [...editor.querySelectorAll(".view-overlays .cdr")]
        .filter((mark) => getComputedStyle(mark).borderLeftColor === border && getComputedStyle(mark).borderLeftWidth === "2px")
        .map((mark) => mark.parentElement.style.top);
      return [...editor.querySelectorAll(".view-line")]
        .filter((line) => tops.includes(line.style.top))
        .map((line) => line.textContent.replaceAll("\u00a0", " "));
    });
  }
}

function pattern(text) {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll(" ", "\\s");
}

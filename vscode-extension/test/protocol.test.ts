import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { generate } from "../scripts/protocol.mjs";

const root = join(import.meta.dirname, "..");

test("src/protocol.ts is what `npm run protocol` makes of schemas/requests.json", () => {
  const schema = JSON.parse(readFileSync(join(root, "../schemas/requests.json"), "utf8"));
  expect(readFileSync(join(root, "src/protocol.ts"), "utf8")).toBe(generate(schema));
});

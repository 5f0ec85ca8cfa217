import { homedir } from "node:os";
import { describe, expect, test } from "vitest";
import { findInterpreter, findServer, type Surroundings } from "../src/discovery.ts";

function surroundings(files: string[], given: Partial<Surroundings> = {}): Surroundings {
  return {
    setting: "",
    interpreter: undefined,
    folders: ["/ws"],
    trusted: true,
    path: "/usr/bin:/home/me/bin",
    exists: (path) => files.includes(path),
    windows: false,
    ...given,
  };
}

const VENV = "/ws/.venv/bin/tile-lsp";
const SELECTED = "/envs/gpu/bin/tile-lsp";
const PATH = "/home/me/bin/tile-lsp";
const interpreter = "/envs/gpu/bin/python";

describe("the server", () => {
  test.each([
    ["beside the selected interpreter", [SELECTED, VENV, PATH], { interpreter }, SELECTED],
    ["in .venv where the interpreter has none", [VENV, PATH], { interpreter }, VENV],
    ["on PATH", [PATH], {}, PATH],
    ["nowhere", [], { interpreter }, undefined],
    ["as the setting says", ["/opt/tile-lsp", VENV], { setting: "/opt/tile-lsp" }, "/opt/tile-lsp"],
    ["not elsewhere where the setting names none", [VENV], { setting: "/opt/tile-lsp" }, undefined],
    ["in the home folder", [`${homedir()}/t/tile-lsp`], { setting: "~/t/tile-lsp" }, `${homedir()}/t/tile-lsp`],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as settings spell it.
    ["in the workspace's folder", ["/ws/b/tile-lsp"], { setting: "${workspaceFolder}/b/tile-lsp" }, "/ws/b/tile-lsp"],
    ["never in an untrusted workspace", [VENV, PATH], { trusted: false }, PATH],
    [
      "not even if it is selected",
      ["/ws/env/bin/tile-lsp"],
      { trusted: false, interpreter: "/ws/env/bin/python" },
      undefined,
    ],
    [
      "beside a folder of a like name",
      ["/ws2/bin/tile-lsp"],
      { trusted: false, path: "/ws2/bin" },
      "/ws2/bin/tile-lsp",
    ],
  ])("%s", (_, files, given, command) => {
    expect(findServer(surroundings(files, given))?.command).toBe(command);
  });

  test("an interpreter in the setting runs the module, whatever lies in the folder it starts in", () => {
    const found = findServer(surroundings(["/opt/bin/python3.12"], { setting: "/opt/bin/python3.12" }));
    expect(found).toMatchObject({ command: "/opt/bin/python3.12", arguments: ["-P", "-m", "tile_lsp"] });
  });
});

test.each([
  [[interpreter, "/ws/.venv/bin/python"], { interpreter }, interpreter],
  [["/ws/.venv/bin/python"], { interpreter }, "/ws/.venv/bin/python"],
  [[], {}, undefined],
])("the interpreter to install into: %j", (files, given, found) => {
  expect(findInterpreter(surroundings(files, given))).toBe(found);
});

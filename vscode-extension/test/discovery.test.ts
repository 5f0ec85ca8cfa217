import { homedir } from "node:os";
import { describe, expect, test } from "vitest";
import { barred, bundledServer, findInterpreters, findServer, recent, type Surroundings } from "../src/discovery.ts";

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

describe("Pythons that could run it", () => {
  const answers: Record<string, string> = {
    [interpreter]: "3.10 cpython-310-x86_64-linux-gnu",
    "/ws/.venv/bin/python": "3.13 cpython-313-x86_64-linux-gnu\n",
    "/usr/bin/python3": "3.9 cpython-39-x86_64-linux-gnu",
    "/usr/bin/python3.12": "3.12 cpython-312-x86_64-linux-gnu",
    "/home/me/bin/python3": "3.14 cpython-314-x86_64-linux-gnu",
  };
  const probe = async (python: string) => answers[python];
  const find = (given: Partial<Surroundings>) =>
    findInterpreters(surroundings([...Object.keys(answers), "/usr/bin/python3.14"], given), probe);
  const paths = async (given: Partial<Surroundings>) => (await find(given)).map(({ path }) => path);

  test("the selected one, the workspace's, those of PATH up to the first that is new enough", async () => {
    expect(await paths({ interpreter })).toEqual([
      interpreter,
      "/ws/.venv/bin/python",
      "/usr/bin/python3",
      "/usr/bin/python3.12",
    ]);
  });

  test("nothing in a workspace that is not trusted", async () => {
    expect(await paths({ trusted: false })).toEqual(["/usr/bin/python3", "/usr/bin/python3.12"]);
  });

  test.each([
    ["the first that its compiled parts are there for", ["312", "313"], "/ws/.venv/bin/python"],
    ["another where they are not", ["312"], "/usr/bin/python3.12"],
    ["none", [], undefined],
  ])("the server that was brought along runs in %s", async (_, versions, command) => {
    const there = [
      "/ext/bundled/server.py",
      ...versions.map((v) => `/ext/bundled/native/cpython-${v}-x86_64-linux-gnu`),
    ];
    const found = bundledServer("/ext/bundled", await find({ interpreter }), (path) => there.includes(path));
    expect(found?.command).toBe(command);
    if (found) expect(found.arguments).toEqual(["-I", "/ext/bundled/server.py"]);
  });

  test.each([
    ["3.10", false],
    ["3.11", true],
    ["4.0", true],
    ["2.7", false],
  ])("%s is new enough: %s", (version, wanted) => {
    expect(recent(version)).toBe(wanted);
  });
});

test("only what lies in the workspace is kept from being started by lack of trust", () => {
  expect(barred(surroundings(["/ws/.venv/bin/python"], { trusted: false }))).toBe(true);
  expect(barred(surroundings(["/ws/.venv/bin/python"]))).toBe(false);
  expect(barred(surroundings(["/usr/bin/python3"], { trusted: false }))).toBe(false);
});

// package.json against the code and the schemas: what is declared is there, and what is there is declared.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

const root = join(import.meta.dirname, "..");
const read = (path: string) => readFileSync(join(root, path), "utf8");
const manifest = JSON.parse(read("package.json"));
const { commands, menus, configuration, languages, grammars, colors, walkthroughs } = manifest.contributes;
const sources = readdirSync(join(root, "src"))
  .filter((name) => name !== "protocol.ts")
  .map((name) => read(`src/${name}`))
  .join("\n");

const schema = JSON.parse(read("../schemas/settings.editor.json"));
/** Settings that the extension itself reads. */
const OWN = ["follow", "server.path", "server.arguments", "trace.server"];

describe("commands", () => {
  const declared: string[] = commands.map(({ command }: { command: string }) => command);

  test("all are registered, under one category", () => {
    for (const command of declared) expect(sources).toContain(`"${command}"`);
    expect(new Set(commands.map(({ category }: { category: string }) => category))).toEqual(new Set(["Tile"]));
  });

  test("menus name commands that there are", () => {
    const named = Object.values<{ command?: string }[]>(menus).flatMap((items) =>
      items.flatMap(({ command }) => command ?? []),
    );
    expect(named.filter((command) => !declared.includes(command))).toEqual([]);
  });

  test("all that need a kernel are offered only where there is one", () => {
    const anywhere = commands.filter(({ enablement }: { enablement?: string }) => !enablement);
    expect(anywhere.map(({ command }: { command: string }) => command).sort()).toEqual([
      "tile-lsp.openSettings",
      "tile-lsp.restartServer",
      "tile-lsp.showOutput",
      "tile-lsp.showStatus",
    ]);
  });

  test("conditions read keys that the extension sets", () => {
    const keys =
      JSON.stringify([commands, menus]).match(/tile-lsp\.(?:has\.\w+|assumed|kernels|view|running)(?!\w)/g) ?? [];
    for (const key of new Set(keys)) {
      const name = key.replace(/^tile-lsp\./, "");
      expect(sources).toContain(name.startsWith("has.") ? `"${name.slice(4)}"` : `["${name}"`);
    }
  });
});

describe("settings", () => {
  const declared = configuration.properties;

  test("are those of the server, and the extension's own", () => {
    const wanted = [...Object.keys(schema.properties), ...OWN].map((name) => `tile-lsp.${name}`);
    expect(Object.keys(declared).sort()).toEqual(wanted.sort());
  });

  test.each(Object.entries<{ default: unknown }>(schema.properties))(
    "%s has the server's default",
    (name, property) => {
      expect(declared[`tile-lsp.${name}`].default).toEqual(property.default);
    },
  );

  test("are described", () => {
    const silent = Object.entries<{ markdownDescription?: string }>(declared).filter(
      ([, one]) => !one.markdownDescription,
    );
    expect(silent).toEqual([]);
  });

  test("that start something can't be set by an untrusted workspace", () => {
    const restricted: string[] = manifest.capabilities.untrustedWorkspaces.restrictedConfigurations;
    for (const name of ["python", "server.path", "server.arguments", "trust"]) {
      expect(restricted).toContain(`tile-lsp.${name}`);
    }
  });
});

test("files that are named are there", () => {
  const steps = walkthroughs.flatMap(({ steps }: { steps: { media: { markdown: string } }[] }) => steps);
  const paths: string[] = [
    manifest.icon,
    ...grammars.map(({ path }: { path: string }) => path),
    ...languages.map((language: { configuration: string }) => language.configuration),
    ...steps.map(({ media }: { media: { markdown: string } }) => media.markdown),
  ];
  for (const path of paths) expect(read(path).length, path).toBeGreaterThan(0);
});

test("languages that have a grammar are declared", () => {
  const ids = languages.map(({ id }: { id: string }) => id);
  expect(grammars.filter(({ language }: { language: string }) => !ids.includes(language))).toEqual([]);
});

test("theme colours that are used are declared", () => {
  const used = [...sources.matchAll(/ThemeColor\("(tile\.\w+)"\)/g)].map(([, name]) => name);
  expect(new Set(used)).toEqual(new Set(colors.map(({ id }: { id: string }) => id)));
});

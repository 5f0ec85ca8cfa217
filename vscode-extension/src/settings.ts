// The server's settings: those of the section `tile-lsp` that are not this extension's own.
import { Uri, workspace } from "vscode";
import type { ConfigurationMiddleware } from "vscode-languageclient/node";
import { explicit } from "./explicit";
import type { Python } from "./python";

export const SECTION = "tile-lsp";

/** What the extension alone reads. */
const OWN = ["server", "trace", "follow"];

/** Answers `workspace/configuration`: what is set, and the interpreter that is selected in the Python extension. */
export function configuration(python: Python): ConfigurationMiddleware {
  return {
    configuration: async (params, token, next) => {
      const answers = await next(params, token);
      if (!Array.isArray(answers)) return answers;
      return Promise.all(
        params.items.map(async (item, index) =>
          item.section === SECTION ? await serverSettings(answers[index], item.scopeUri, python) : answers[index],
        ),
      );
    },
  };
}

async function serverSettings(
  section: unknown,
  scope: string | undefined,
  python: Python,
): Promise<Record<string, unknown>> {
  const all = { ...(section as Record<string, unknown> | null) };
  for (const name of OWN) delete all[name];
  const resource = scope ? Uri.parse(scope) : undefined;
  const known = workspace.getConfiguration(SECTION, resource);
  const settings = explicit(all, (name) => known.inspect(name));
  const selected = await python.interpreter(resource);
  return selected ? { ...settings, selectedInterpreter: selected } : settings;
}

export function follows(): boolean {
  return workspace.getConfiguration(SECTION).get<boolean>("follow", true);
}

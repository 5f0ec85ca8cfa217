// The server's settings: those of the section `tile-lsp` that are not this extension's own.
import { workspace } from "vscode";
import type { ConfigurationMiddleware } from "vscode-languageclient/node";
import type { Python } from "./python";

export const SECTION = "tile-lsp";

/** What the extension alone reads. */
const OWN = ["server", "trace", "follow"];

/** Answers `workspace/configuration`; the interpreter that is selected in the Python extension stands in for an unset `python`. */
export function configuration(python: Python): ConfigurationMiddleware {
  return {
    configuration: async (params, token, next) => {
      const answers = await next(params, token);
      if (!Array.isArray(answers)) return answers;
      return Promise.all(
        params.items.map(async (item, index) =>
          item.section === SECTION ? await serverSettings(answers[index], python) : answers[index],
        ),
      );
    },
  };
}

async function serverSettings(section: unknown, python: Python): Promise<Record<string, unknown>> {
  const settings: Record<string, unknown> = { ...(section as Record<string, unknown> | null) };
  for (const name of OWN) delete settings[name];
  settings.python ||= (await python.interpreter()) ?? null;
  return settings;
}

export function follows(): boolean {
  return workspace.getConfiguration(SECTION).get<boolean>("follow", true);
}

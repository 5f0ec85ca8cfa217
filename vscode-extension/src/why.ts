// Why a command came to nothing, and what mends that: in words, with what may be done about it.
import type { Life } from "./server";

export interface Mend {
  readonly title: string;
  readonly command: string;
}

export interface Trouble {
  readonly message: string;
  readonly mends: readonly Mend[];
}

const INSTALL = { title: "Install the Server", command: "tile-lsp.installServer" };
const OUTPUT = { title: "Show Output", command: "tile-lsp.showOutput" };
const RESTART = { title: "Restart Server", command: "tile-lsp.restartServer" };

const NO_SERVER: Record<Exclude<Life, "running">, Trouble> = {
  missing: { message: "its language server, tile-lsp, was not found", mends: [INSTALL] },
  starting: { message: "its language server is starting; try again in a moment", mends: [OUTPUT] },
  stopped: { message: "its language server is stopped", mends: [RESTART] },
  failed: { message: "its language server did not start, and the output says why", mends: [OUTPUT, RESTART] },
};

/** @param error What a request ended with, where the server runs. */
export function why(life: Life, error: unknown): Trouble {
  if (life !== "running") return { ...NO_SERVER[life], message: `Tile can't say: ${NO_SERVER[life].message}.` };
  const said = error instanceof Error ? error.message : String(error ?? "");
  return {
    message: `Tile can't say: ${said.replace(/\.$/, "") || "the server gave no answer"}.`,
    mends: [OUTPUT, RESTART],
  };
}

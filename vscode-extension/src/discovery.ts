// Where the server is: as the setting says, beside an interpreter, or on PATH. Nothing is started to find out.
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { basename, delimiter, dirname, join, relative, sep } from "node:path";

export interface Command {
  readonly command: string;
  readonly arguments: readonly string[];
  /** How it was found, for people. */
  readonly origin: string;
}

export interface Surroundings {
  /** The setting `tile-lsp.server.path`. */
  readonly setting: string;
  /** The interpreter that is selected in the Python extension. */
  readonly interpreter: string | undefined;
  /** Paths of the workspace's folders. */
  readonly folders: readonly string[];
  /** False: nothing that lies in the workspace may be started. */
  readonly trusted: boolean;
  /** The variable PATH. */
  readonly path: string;
  readonly exists?: (path: string) => boolean;
  readonly windows?: boolean;
}

/** The command that starts the server, `--stdio` left out; undefined where there is none. */
export function findServer(surroundings: Surroundings): Command | undefined {
  const { setting, interpreter, folders } = surroundings;
  const exists = surroundings.exists ?? existsSync;
  const may = (path: string) =>
    exists(path) && (surroundings.trusted || !folders.some((folder) => within(path, folder)));
  if (setting) {
    const path = expand(setting, folders);
    return may(path) ? fromSetting(path) : undefined;
  }
  const windows = surroundings.windows ?? process.platform === "win32";
  const script = windows ? "tile-lsp.exe" : "tile-lsp";
  const environments = folders.map((folder) => join(folder, ".venv", windows ? "Scripts" : "bin"));
  const places: [string, string][] = [
    ...(interpreter ? [[dirname(interpreter), "the selected interpreter"] as [string, string]] : []),
    ...environments.map((folder): [string, string] => [folder, ".venv"]),
    ...surroundings.path.split(delimiter).map((folder): [string, string] => [folder, "PATH"]),
  ];
  for (const [folder, origin] of places) {
    const command = folder && join(folder, script);
    if (command && may(command)) return { command, arguments: [], origin };
  }
  return undefined;
}

/** The interpreter to install the server into: the selected one, else the workspace's. */
export function findInterpreter({ interpreter, folders, exists = existsSync }: Surroundings): string | undefined {
  const own = folders.map((folder) =>
    process.platform === "win32"
      ? join(folder, ".venv", "Scripts", "python.exe")
      : join(folder, ".venv", "bin", "python"),
  );
  return [interpreter, ...own].find((path) => path !== undefined && exists(path));
}

function fromSetting(path: string): Command {
  const origin = "tile-lsp.server.path";
  return /^(?:python|pypy)[\d.]*(?:\.exe)?$/i.test(basename(path))
    ? // -P: a folder `tile_lsp` where the server happens to start is not the server.
      { command: path, arguments: ["-P", "-m", "tile_lsp"], origin }
    : { command: path, arguments: [], origin };
}

/** `~` and `${workspaceFolder}`, as settings spell them. */
export function expand(path: string, folders: readonly string[]): string {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how VS Code's settings name the folder.
  const filled = path.replace("${workspaceFolder}", folders[0] ?? "");
  return /^~(?=$|[\\/])/.test(filled) ? homedir() + filled.slice(1) : filled;
}

function within(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !/^(?:[A-Za-z]:|[\\/])/.test(way);
}

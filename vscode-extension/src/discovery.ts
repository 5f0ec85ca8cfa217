// Where the server is: as the setting says, beside an interpreter, or on PATH; else the one that the extension brought along, if a
// Python that can run it is at hand.
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

/** The command that starts the server, `--stdio` left out; undefined where there is none. Nothing is started to find out. */
export function findServer(surroundings: Surroundings): Command | undefined {
  const { setting, interpreter, folders } = surroundings;
  if (setting) {
    const path = expand(setting, folders);
    return mayStart(path, surroundings) ? fromSetting(path) : undefined;
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
    if (command && mayStart(command, surroundings)) return { command, arguments: [], origin };
  }
  return undefined;
}

/** A Python that is at hand, and what it can run. */
export interface Interpreter {
  readonly path: string;
  /** How it was found, for people. */
  readonly origin: string;
  /** `3.12`. */
  readonly version: string;
  /** `cpython-312-x86_64-linux-gnu`: what it can load compiled modules of. */
  readonly abi: string;
}

/** Asks a Python for its version and ABI, as `PROBE` prints them; undefined where it can't say. */
export type Probe = (python: string) => Promise<string | undefined>;
export const PROBE =
  "import sys, sysconfig; print('%d.%d' % sys.version_info[:2], sysconfig.get_config_var('SOABI') or '-')";

const OLDEST = [3, 11] as const;
const NAMES = ["python3", "python3.14", "python3.13", "python3.12", "python3.11", "python"];

/** The Pythons that the server may be started by, best first. */
export async function findInterpreters(surroundings: Surroundings, probe: Probe): Promise<Interpreter[]> {
  const { interpreter, folders, path } = surroundings;
  const windows = surroundings.windows ?? process.platform === "win32";
  const environments = folders.map((folder) =>
    windows ? join(folder, ".venv", "Scripts", "python.exe") : join(folder, ".venv", "bin", "python"),
  );
  const onPath = path
    .split(delimiter)
    .flatMap((folder) => (folder ? NAMES.map((name) => join(folder, windows ? `${name}.exe` : name)) : []));
  const places: [string, string][] = [
    ...(interpreter ? [[interpreter, "the selected interpreter"] as [string, string]] : []),
    ...environments.map((python): [string, string] => [python, ".venv"]),
    ...onPath.map((python): [string, string] => [python, "PATH"]),
  ];
  const found: Interpreter[] = [];
  const told = new Set<string>();
  for (const [python, origin] of places) {
    if (told.has(python) || !mayStart(python, surroundings)) continue;
    told.add(python);
    const [version, abi] = (await probe(python))?.trim().split(" ") ?? [];
    if (version && abi) found.push({ path: python, origin, version, abi });
    // Of PATH the first that will do is enough: each costs a start.
    if (origin === "PATH" && version && recent(version)) break;
  }
  return found;
}

/** True for a Python that is new enough for the server. */
export function recent(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
}

/** The server in the folder `bundled`, by the first interpreter that its compiled parts are there for. */
export function bundledServer(
  bundled: string,
  interpreters: readonly Interpreter[],
  exists: (path: string) => boolean = existsSync,
): Command | undefined {
  const script = join(bundled, "server.py");
  const one = interpreters.find(({ abi }) => exists(join(bundled, "native", abi)));
  // -I: neither variables nor the folder it starts in get between the server and what it brought along.
  return one && exists(script)
    ? { command: one.path, arguments: ["-I", script], origin: `the extension, by the Python of ${one.origin}` }
    : undefined;
}

/** Whether a program is there; in a workspace that is not trusted only what lies outside may be started. */
function mayStart(path: string, { folders, trusted, exists = existsSync }: Surroundings): boolean {
  return exists(path) && (trusted || !folders.some((folder) => within(path, folder)));
}

/** Whether a server, or a Python that may run one, lies in the workspace, and only lack of trust keeps it from being started. */
export function barred(surroundings: Surroundings): boolean {
  const { folders, trusted, exists = existsSync } = surroundings;
  const windows = surroundings.windows ?? process.platform === "win32";
  const python = windows ? join(".venv", "Scripts", "python.exe") : join(".venv", "bin", "python");
  return !trusted && folders.some((folder) => exists(join(folder, python)));
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

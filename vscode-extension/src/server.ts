// The server's life: found, started, watched, restarted.
import { execFile } from "node:child_process";
import { type Disposable, EventEmitter, type LogOutputChannel, Uri, window, workspace } from "vscode";
import {
  LanguageClient,
  type LanguageClientOptions,
  type Middleware,
  State,
  TransportKind,
} from "vscode-languageclient/node";
import {
  bundledServer,
  type Command,
  findInterpreters,
  findServer,
  type Interpreter,
  PROBE,
  type Surroundings,
} from "./discovery";
import { SELECTOR } from "./languages";
import type { StatusResult } from "./protocol";
import type { Python } from "./python";
import { notification } from "./requests";
import { configuration, SECTION } from "./settings";

export type Life = "stopped" | "missing" | "starting" | "running" | "failed";

/** Milliseconds after which a Python that doesn't say its version is none. */
const PATIENCE = 20_000;

/** What a change of makes a new start necessary. */
const STARTED_WITH = [`${SECTION}.server.path`, `${SECTION}.server.arguments`];

export class Server implements Disposable {
  readonly output: LogOutputChannel = window.createOutputChannel("Tile", { log: true });
  private readonly changed = new EventEmitter<void>();
  private readonly kernels = new EventEmitter<Uri>();
  private readonly disposables: Disposable[];
  private running: LanguageClient | undefined;
  private work: Promise<void> = Promise.resolve();
  /** The server's life or its status is another. */
  readonly onDidChange = this.changed.event;
  /** Kernels of a file, their states, jobs or resources are new. */
  readonly onDidChangeKernels = this.kernels.event;
  life: Life = "stopped";
  status: StatusResult | undefined;
  command: Command | undefined;
  /** Those that were looked at because no server was found. */
  interpreters: readonly Interpreter[] = [];

  constructor(
    private readonly python: Python,
    /** Folder with the server that the extension brought along, if it did. */
    private readonly bundled: string,
    /** What other parts do with the server's commands and documents. */
    private readonly middleware: Middleware,
  ) {
    this.disposables = [
      this.output,
      this.changed,
      this.kernels,
      python.onDidChange(() => this.interpreterChanged()),
      workspace.onDidGrantWorkspaceTrust(() => this.restart()),
      workspace.onDidChangeWorkspaceFolders(() => {
        if (this.life === "missing") this.restart();
      }),
      workspace.onDidChangeConfiguration((event) => {
        if (STARTED_WITH.some((name) => event.affectsConfiguration(name))) this.restart();
      }),
    ];
  }

  /** The client, while the server answers. */
  get client(): LanguageClient | undefined {
    return this.life === "running" ? this.running : undefined;
  }

  /** Stop the server, look for it anew, and start it. Settles once it answers, or can't. */
  restart(): Promise<void> {
    this.work = this.work.then(async () => {
      await this.stop();
      await this.start();
    });
    return this.work;
  }

  async surroundings(): Promise<Surroundings> {
    return {
      setting: workspace.getConfiguration(SECTION).get("server.path", ""),
      interpreter: await this.python.interpreter(),
      folders: (workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath),
      trusted: workspace.isTrusted,
      path: process.env.PATH ?? "",
    };
  }

  /** The server of the surroundings, else the extension's own; what the setting names is not second-guessed. */
  private async find(): Promise<Command | undefined> {
    const surroundings = await this.surroundings();
    this.interpreters = [];
    const found = findServer(surroundings);
    if (found || surroundings.setting) return found;
    this.interpreters = await findInterpreters(surroundings, probe);
    return bundledServer(this.bundled, this.interpreters);
  }

  private async start(): Promise<void> {
    this.command = await this.find();
    if (!this.command) {
      const seen = this.interpreters.map(({ path, version, abi }) => `${path} is Python ${version} (${abi})`);
      this.output.warn("no server found: neither tile-lsp.server.path, nor beside an interpreter, nor on PATH,");
      this.output.warn(`and no Python that runs the one brought along: ${seen.join(", ") || "there is none"}`);
      this.become("missing");
      return;
    }
    const { command, arguments: given, origin } = this.command;
    const extra = workspace.getConfiguration(SECTION).get<string[]>("server.arguments", []);
    this.output.info(`starting ${[command, ...given, ...extra].join(" ")} (from ${origin})`);
    this.become("starting");
    const run = { command, args: [...given, ...extra], transport: TransportKind.stdio };
    const client = new LanguageClient(SECTION, "Tile", run, this.clientOptions());
    this.running = client;
    client.onDidChangeState(({ newState }) => {
      if (this.running !== client) return;
      if (newState === State.Running) this.become("running");
      else if (newState === State.Starting) this.become("starting");
      else if (this.life !== "failed") this.become("stopped");
    });
    client.onNotification(notification("tile/statusChanged"), (status) => {
      this.status = status;
      this.changed.fire();
    });
    client.onNotification(notification("tile/kernelsChanged"), ({ uri }) => this.kernels.fire(Uri.parse(uri)));
    try {
      await client.start();
    } catch (error) {
      this.output.error(`the server did not start: ${error}`);
      this.become("failed");
    }
  }

  private clientOptions(): LanguageClientOptions {
    return {
      documentSelector: SELECTOR,
      initializationOptions: { trusted: workspace.isTrusted, status: true },
      outputChannel: this.output,
      middleware: { ...this.middleware, workspace: configuration(this.python) },
      // Where the server dies again and again the status says so; a message for each death says no more.
      initializationFailedHandler: () => false,
    };
  }

  private async stop(): Promise<void> {
    const client = this.running;
    this.running = undefined;
    this.status = undefined;
    if (client) {
      this.become("stopped");
      await client
        .dispose(2000)
        .catch((error: unknown) => this.output.warn(`the server did not stop in time: ${error}`));
    }
  }

  private async interpreterChanged(): Promise<void> {
    const command = await this.find();
    if (command?.command !== this.command?.command) await this.restart();
    else await this.client?.sendNotification("workspace/didChangeConfiguration", { settings: null });
  }

  private become(life: Life): void {
    this.life = life;
    this.changed.fire();
  }

  async dispose(): Promise<void> {
    await this.work;
    await this.stop();
    for (const disposable of this.disposables) disposable.dispose();
  }
}

function probe(python: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(python, ["-I", "-S", "-c", PROBE], { timeout: PATIENCE }, (error, output) =>
      resolve(error ? undefined : output),
    );
  });
}

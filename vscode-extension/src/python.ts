// The interpreter that is selected in the Python extension, where that is installed.
import { type Disposable, type Event, EventEmitter, extensions, type Uri, workspace } from "vscode";

/** The part of its API that we use. */
interface PythonApi {
  readonly environments: {
    getActiveEnvironmentPath(resource?: Uri): { path: string };
    resolveEnvironment(path: { path: string }): Promise<{ executable: { uri?: Uri } } | undefined>;
    readonly onDidChangeActiveEnvironmentPath: Event<unknown>;
  };
}

export class Python implements Disposable {
  private readonly changed = new EventEmitter<void>();
  private listening: Disposable | undefined;
  /** Another interpreter was selected. */
  readonly onDidChange = this.changed.event;

  /** Path of the interpreter that is selected for a resource, such as a workspace folder. */
  async interpreter(resource = workspace.workspaceFolders?.[0]?.uri): Promise<string | undefined> {
    const api = await this.api();
    if (!api) return undefined;
    const active = api.environments.getActiveEnvironmentPath(resource);
    return (await api.environments.resolveEnvironment(active))?.executable.uri?.fsPath;
  }

  private async api(): Promise<PythonApi | undefined> {
    const extension = extensions.getExtension<PythonApi>("ms-python.python");
    if (!extension) return undefined;
    try {
      const api = await extension.activate();
      this.listening ??= api.environments.onDidChangeActiveEnvironmentPath(() => this.changed.fire());
      return api;
    } catch {
      return undefined; // It could not start: the workspace's own environment will do.
    }
  }

  dispose(): void {
    this.listening?.dispose();
    this.changed.dispose();
  }
}

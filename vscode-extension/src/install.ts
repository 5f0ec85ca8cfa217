// Installing runs in a terminal, where it can be watched.
import { type ProcessExecution, type ShellExecution, Task, TaskPanelKind, TaskScope, tasks } from "vscode";

/** Run it to its end. Returns its exit code; undefined where it was stopped. */
export async function install(how: ProcessExecution | ShellExecution): Promise<number | undefined> {
  const task = new Task({ type: "tile-lsp" }, TaskScope.Workspace, "install", "Tile", how);
  task.presentationOptions = { panel: TaskPanelKind.Dedicated, clear: true };
  const execution = await tasks.executeTask(task);
  return new Promise((resolve) => {
    const ended = tasks.onDidEndTaskProcess((event) => {
      if (event.execution !== execution) return;
      ended.dispose();
      resolve(event.exitCode);
    });
  });
}

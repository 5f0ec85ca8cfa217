// Source actions of the server as commands: VS Code has the former in a menu that few open, and not in its lightbulb.
import { type CodeAction, commands, Disposable, Range, Uri, window, workspace } from "vscode";
import type { Kernels } from "./kernels";
import type { Listings } from "./listings";

export function registerActions(kernels: Kernels, listings: Listings): Disposable {
  return Disposable.from(
    commands.registerCommand("tile-lsp.pinArguments", async () => {
      const kernel = await kernels.choose();
      if (!kernel) return;
      const { line } = kernel.range.start;
      const offered = await commands.executeCommand<CodeAction[]>(
        "vscode.executeCodeActionProvider",
        Uri.parse(kernel.uri),
        new Range(line, 0, line, 0),
        "source.tile.pin",
      );
      const edit = offered.find(({ title }) => title.endsWith(` of ${kernel.name}`))?.edit;
      if (edit && !(await workspace.applyEdit(edit))) {
        window.showErrorMessage(`The arguments of ${kernel.name} could not be written: is its file read-only?`);
      } else if (!edit) window.showInformationMessage(`Nothing about the arguments of ${kernel.name} is assumed.`);
    }),
    commands.registerCommand("tile-lsp.copyCommandLine", async () => {
      const listing = window.activeTextEditor && listings.get(window.activeTextEditor.document.uri);
      const kernel = await kernels.choose();
      if (!kernel) return;
      const { uri, name } = kernel;
      await commands.executeCommand("tile.copyCommandLine", { uri, kernel: name, stage: listing?.stage ?? null });
    }),
  );
}

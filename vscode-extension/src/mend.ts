// What installs a compiler or a tool that is missing is in its diagnostic: here it is run, in a terminal where it can be watched, once
// somebody asks for it. Then what failed is tried again.
import {
  CodeAction,
  CodeActionKind,
  commands,
  type Diagnostic,
  Disposable,
  languages,
  ShellExecution,
  window,
} from "vscode";
import { commandIn } from "./commandIn";
import { install } from "./install";
import { SELECTOR } from "./languages";

const COMMAND = "tile-lsp.runMend";

export function registerMend(): Disposable {
  const kinds = { providedCodeActionKinds: [CodeActionKind.QuickFix] };
  return Disposable.from(
    commands.registerCommand(COMMAND, run),
    languages.registerCodeActionsProvider(
      SELECTOR as { scheme: string; language?: string; pattern?: string }[],
      { provideCodeActions: (_document, _range, { diagnostics }) => diagnostics.flatMap(actions) },
      kinds,
    ),
  );
}

function actions(diagnostic: Diagnostic): CodeAction[] {
  const command = diagnostic.source === "tile-lsp" ? commandIn(diagnostic.message) : undefined;
  if (!command) return [];
  const action = new CodeAction(`Run in a terminal: ${command}`, CodeActionKind.QuickFix);
  action.diagnostics = [diagnostic];
  action.command = { title: action.title, command: COMMAND, arguments: [command] };
  return [action];
}

async function run(command: string): Promise<void> {
  if ((await install(new ShellExecution(command))) === 0) await commands.executeCommand("tile.retry");
  else window.showErrorMessage("Nothing was installed: the terminal says why.");
}

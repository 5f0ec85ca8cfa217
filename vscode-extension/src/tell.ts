// Messages of commands that came to nothing.
import { commands, window } from "vscode";
import type { Trouble } from "./why";

/** Say it, with buttons for what mends it; the command that failed does not wait for an answer. */
export function tell({ message, mends }: Trouble): void {
  window.showErrorMessage(message, ...mends.map(({ title }) => title)).then((answer) => {
    const mend = mends.find(({ title }) => title === answer);
    if (mend) commands.executeCommand(mend.command);
  });
}

/** Say what the command is lacking. */
export function lacking(message: string): void {
  window.showInformationMessage(message);
}

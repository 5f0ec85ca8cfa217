// The server's own commands, which lenses and code actions name: what shows something is done here, beside the source.
import { commands, env, window } from "vscode";
import type { ExecuteCommandMiddleware } from "vscode-languageclient/node";
import type { Select, Selection } from "./select";
import type { Show, View } from "./show";

/** The page of settings, with this extension's only. */
export function openSettings(): Thenable<void> {
  return commands.executeCommand("workbench.action.openSettings", "@ext:tile-lsp.tile-lsp");
}

export interface Parts {
  readonly show: Show;
  readonly select: Select;
}

/** @param parts Made later than the client that this is for. */
export function serverCommands(parts: () => Parts): ExecuteCommandMiddleware {
  return {
    executeCommand: async (command, given, next) => {
      const [argument] = given;
      switch (command) {
        case "tile.show":
        case "tile.pin":
          return parts().show.view(argument as View, command === "tile.pin");
        case "tile.selectJob":
          return parts().select.selection(argument as Selection);
        case "tile.openSettings":
          return openSettings();
        case "tile.copyCommandLine": {
          const result: { text: string } | undefined = await next(command, given);
          if (!result) return undefined;
          await env.clipboard.writeText(result.text);
          window.setStatusBarMessage(`$(clippy) ${result.text}`, 4000);
          return result;
        }
        default:
          return next(command, given);
      }
    },
  };
}

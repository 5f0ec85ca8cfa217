// Puts the parts together.
import type { ExtensionContext } from "vscode";
import { registerActions } from "./actions";
import { Badges } from "./badge";
import { serverCommands } from "./commands";
import { registerCompare } from "./compare";
import { Follow } from "./follow";
import { Graphs } from "./graph";
import { Kernels } from "./kernels";
import { ThreadMaps } from "./layout";
import { Listings, SCHEME } from "./listings";
import { registerMend } from "./mend";
import { Missing } from "./missing";
import { registerPin } from "./pin";
import { KeepPlace } from "./place";
import { Python } from "./python";
import { Quiet } from "./quiet";
import { Restore } from "./restore";
import { Select } from "./select";
import { Server } from "./server";
import { follows } from "./settings";
import { keepLanguage, Show } from "./show";
import { Status } from "./status";

let server: Server | undefined;

export async function activate(context: ExtensionContext): Promise<void> {
  const python = new Python();
  const started = new Server(python, context.asAbsolutePath("bundled"), {
    ...serverCommands(() => ({ show, select })),
    // Lines of one origin are lit up already; this leaves the highlights to occurrences of the word, such as a register.
    provideDocumentHighlights: (document, position, token, next) =>
      document.uri.scheme === SCHEME && follows() ? [] : next(document, position, token),
    provideTextDocumentContent: (uri, token, next) => listings.provide(uri, () => next(uri, token)),
  });
  server = started;
  const listings = new Listings(started);
  const kernels = new Kernels(started, listings);
  const show = new Show(kernels, listings);
  const select = new Select(started, kernels);
  context.subscriptions.push(
    python,
    listings,
    kernels,
    show,
    select,
    keepLanguage(listings),
    registerCompare(kernels, show),
    registerPin(kernels, listings),
    registerActions(kernels, listings),
    registerMend(),
    new Follow(listings),
    new KeepPlace(),
    new Restore(started, listings, context.workspaceState),
    new Badges(listings),
    new Quiet(listings),
    new ThreadMaps(started),
    new Graphs(started, kernels, listings),
    new Status(started, kernels, listings),
    new Missing(started, context.extensionUri),
  );
  await started.restart();
}

export async function deactivate(): Promise<void> {
  await server?.dispose();
}

// Pin This View: a listing that stays with the job it shows, whatever configuration is selected.
import { commands, Disposable, TextEditorRevealType, Uri, window } from "vscode";
import type { Kernels } from "./kernels";
import type { Listing, Listings } from "./listings";
import type { Kernel } from "./protocol";
import { open } from "./show";
import { lacking } from "./tell";

export function registerPin(kernels: Kernels, listings: Listings): Disposable {
  const swap = (other: (kernel: Kernel, listing: Listing) => string | undefined) => async () => {
    const editor = window.activeTextEditor;
    const listing = editor && listings.get(editor.document.uri);
    const kernel = kernels.current();
    const uri = listing && kernel && other(kernel, listing);
    if (!editor || !uri) {
      lacking(
        listing
          ? `${listing.kernel} is no longer what this listing is of: there is nothing to pin it to.`
          : "There is no listing in front: Show SASS for Kernel opens one.",
      );
      return;
    }
    const { selection, visibleRanges, viewColumn } = editor;
    const old = window.tabGroups.activeTabGroup.activeTab;
    const opened = await open(Uri.parse(uri), viewColumn ?? 1);
    opened.selection = selection;
    if (visibleRanges[0]) opened.revealRange(visibleRanges[0], TextEditorRevealType.AtTop);
    if (old) await window.tabGroups.close(old);
    await window.showTextDocument(opened.document, { viewColumn: opened.viewColumn ?? 1 });
  };
  return Disposable.from(
    commands.registerCommand(
      "tile-lsp.pinView",
      swap((kernel, { job, stage }) => kernel.jobs.find(({ token }) => token === job)?.documents[stage]),
    ),
    commands.registerCommand(
      "tile-lsp.unpinView",
      swap((kernel, { stage }) => kernel.documents[stage]),
    ),
  );
}

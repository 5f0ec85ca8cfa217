// Compare Stages Side by Side: a column for each; all of them follow the cursor.
import { commands, type Disposable, TabInputText, Uri, ViewColumn, window } from "vscode";
import type { Kernels } from "./kernels";
import { SCHEME } from "./listings";
import type { Show } from "./show";

const TITLES: Record<string, string> = {
  types: "Types",
  hir: "HIR",
  typed: "Typed IR",
  tileir: "Tile IR",
  ttir: "TTIR",
  ttgir: "TTGIR",
  llvm: "LLVM IR",
  ptx: "PTX",
  sass: "SASS",
  amdgcn: "AMDGCN",
  resources: "Resources",
  remarks: "Remarks",
};
const USUAL = ["ptx", "sass", "amdgcn"];

export function registerCompare(kernels: Kernels, show: Show): Disposable {
  return commands.registerCommand("tile-lsp.compareStages", async () => {
    const kernel = await kernels.choose();
    if (!kernel) return;
    const picked = await window.showQuickPick(
      kernel.stages.map((stage) => ({ label: TITLES[stage] ?? stage, stage, picked: USUAL.includes(stage) })),
      { title: `Stages of ${kernel.name}, side by side`, canPickMany: true },
    );
    const source = window.visibleTextEditors.find((editor) => editor.document.uri.scheme !== SCHEME)?.viewColumn;
    await close((picked ?? []).flatMap(({ stage }) => kernel.documents[stage] ?? []));
    for (const [index, { stage }] of (picked ?? []).entries()) {
      await show.kernel(kernel, stage, undefined, (source ?? ViewColumn.One) + index + 1);
    }
  });
}

/** Listings that are about to have a column of their own leave the one they are in. */
async function close(uris: readonly string[]): Promise<void> {
  const spelt = uris.map((uri) => Uri.parse(uri).toString());
  const tabs = window.tabGroups.all.flatMap((group) => group.tabs);
  await window.tabGroups.close(
    tabs.filter(({ input }) => input instanceof TabInputText && spelt.includes(input.uri.toString())),
  );
}

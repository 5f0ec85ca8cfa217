// Select Configuration: the job of a kernel that hovers, hints and unpinned views follow.
import { commands, type Disposable, ThemeIcon, Uri, window } from "vscode";
import type { Kernels } from "./kernels";
import type { Job, Kernel } from "./protocol";
import { demand } from "./requests";
import type { Server } from "./server";

/** What the server's `tile.selectJob` takes. */
export interface Selection {
  readonly uri: string;
  readonly kernel: string;
  readonly index?: number;
}

export class Select implements Disposable {
  private readonly command: Disposable;

  constructor(
    private readonly server: Server,
    private readonly kernels: Kernels,
  ) {
    this.command = commands.registerCommand("tile-lsp.selectConfiguration", async () => {
      const kernel = await this.kernels.choose();
      if (kernel) await this.pick(kernel);
    });
  }

  /** What a lens or a code action asks for. */
  async selection({ uri, kernel: name, index }: Selection): Promise<void> {
    const kernel = await this.kernels.named(Uri.parse(uri), name);
    if (!kernel) return;
    if (index === undefined) await this.pick(kernel);
    else await this.select(kernel, index);
  }

  private async pick(kernel: Kernel): Promise<void> {
    const items = kernel.jobs.map((job, index) => ({ ...item(job), index }));
    if (!items.length) {
      window.showInformationMessage(
        `${kernel.name} has no configuration: ${kernel.problems[0] ?? "it is not analysed yet"}`,
      );
      return;
    }
    const picked = await window.showQuickPick(items, {
      title: `Configuration of ${kernel.name}`,
      placeHolder: "Types, hints and views follow it",
      matchOnDetail: true,
    });
    if (picked) await this.select(kernel, picked.index);
  }

  private async select(kernel: Kernel, index: number): Promise<void> {
    await demand(this.server, "tile/selectJob", { textDocument: { uri: kernel.uri }, kernel: kernel.name, index });
    await this.kernels.refresh();
  }

  dispose(): void {
    this.command.dispose();
  }
}

function item(job: Job) {
  return {
    label: job.label,
    description: job.problems[0] ?? job.resources ?? "",
    detail: job.arguments.map((argument) => `${argument.name}=${argument.spec}`).join(" "),
    iconPath: new ThemeIcon(job.active ? "check" : "blank"),
  };
}

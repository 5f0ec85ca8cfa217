// Of a section of settings what somebody wrote: the rest are VS Code's defaults, which must not win over the files of a project.

/** What is known of one setting, as `WorkspaceConfiguration.inspect` has it. */
export interface Inspected {
  readonly globalValue?: unknown;
  readonly workspaceValue?: unknown;
  readonly workspaceFolderValue?: unknown;
  readonly globalLanguageValue?: unknown;
  readonly workspaceLanguageValue?: unknown;
  readonly workspaceFolderLanguageValue?: unknown;
}

/** The part of a section's values that was written somewhere; of tables the entries that were. */
export function explicit(
  section: Readonly<Record<string, unknown>>,
  inspect: (name: string) => Inspected | undefined,
): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(section)) {
    const written = writings(inspect(name));
    if (!written.length) continue;
    // Values are VS Code's: it leaves out what an untrusted workspace may not set, and merges tables with their defaults.
    const names = written.every(isTable)
      ? new Set(written.flatMap((table) => Object.keys(table as object)))
      : undefined;
    found[name] =
      names && isTable(value) ? Object.fromEntries(Object.entries(value).filter(([key]) => names.has(key))) : value;
  }
  return found;
}

function writings(inspected: Inspected | undefined): unknown[] {
  if (!inspected) return [];
  return [
    inspected.globalValue,
    inspected.workspaceValue,
    inspected.workspaceFolderValue,
    inspected.globalLanguageValue,
    inspected.workspaceLanguageValue,
    inspected.workspaceFolderLanguageValue,
  ].filter((value) => value !== undefined);
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

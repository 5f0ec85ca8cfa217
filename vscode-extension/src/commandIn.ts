/** The command that installs what a diagnostic says is missing: its last line, where that is one. */
export function commandIn(message: string): string | undefined {
  const line = message.trimEnd().split("\n").at(-1) ?? "";
  return /^(?:\S+ -m ensurepip && )?(?:\S+ -m pip|uv pip) install \S/.test(line) ? line : undefined;
}

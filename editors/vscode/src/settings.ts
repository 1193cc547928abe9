// The settings that the server reads, as package.json declares them.
export const SECTION = "tclint";

export const SERVER_SETTINGS = [
  "enable",
  "configuration",
  "diagnosticMode",
  "inlayHints",
  "codeLens",
] as const;

/** The settings for the server alone; where to find it is not its business. */
export function serverSettings(get: (name: string) => unknown): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const name of SERVER_SETTINGS) {
    const value = get(name);
    if (value !== undefined && value !== null) {
      found[name] = value;
    }
  }
  return found;
}

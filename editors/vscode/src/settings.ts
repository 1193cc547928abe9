// The settings that the server reads, as package.json declares them.
export const SECTION = "tclint";

export const SERVER_SETTINGS = [
  "enable",
  "configuration",
  "diagnosticMode",
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

/** An answer to the server that asks for its section, which in the editor holds more. */
export function ownSettings(section: unknown): unknown {
  if (typeof section !== "object" || section === null || Array.isArray(section)) {
    return section;
  }
  const all = section as Record<string, unknown>;
  return serverSettings((name) => all[name]);
}

// How the server is started: pure, so that it can be tested without an editor.
import * as path from "node:path";

export interface Command {
  command: string;
  args: string[];
}

/** The scripts of an interpreter's environment, where `tclint` lies if it is installed there. */
export function besideInterpreter(interpreter: string, platform: NodeJS.Platform): string {
  const flavour = platform === "win32" ? path.win32 : path.posix;
  const name = platform === "win32" ? "tclint.exe" : "tclint";
  return flavour.join(flavour.dirname(interpreter), name);
}

/** What the settings say, else tclint of the chosen interpreter, else the one on PATH. */
export function serverCommand(
  configured: readonly string[],
  interpreter: string | undefined,
  exists: (file: string) => boolean,
  platform: NodeJS.Platform = process.platform,
): Command {
  const [first, ...rest] = configured.filter((part) => part !== "");
  if (first !== undefined) {
    return { command: first, args: [...rest, "server"] };
  }
  if (interpreter !== undefined) {
    const beside = besideInterpreter(interpreter, platform);
    if (exists(beside)) {
      return { command: beside, args: ["server"] };
    }
  }
  return { command: "tclint", args: ["server"] };
}

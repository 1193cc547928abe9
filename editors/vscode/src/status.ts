// What the status item shows: pure, so that it can be tested without an editor.
export type State = "starting" | "running" | "stopped";

export interface Shown {
  text: string;
  tooltip: string;
  isError: boolean;
}

/** The text of the status item for a server's state and the findings of the active file. */
export function shown(state: State, findings: number, problem?: string): Shown {
  switch (state) {
    case "starting":
      return { text: "$(sync~spin) tclint", tooltip: "tclint is starting", isError: false };
    case "running": {
      const count = findings === 1 ? "1 finding" : `${findings} findings`;
      const text = findings === 0 ? "$(check) tclint" : `$(flame) tclint ${findings}`;
      return { text, tooltip: `tclint: ${count} in this file`, isError: false };
    }
    case "stopped":
      return {
        text: "$(error) tclint",
        tooltip: problem ?? "tclint does not run; select to start it",
        isError: true,
      };
  }
}

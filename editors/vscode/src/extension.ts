import * as fs from "node:fs";
import * as vscode from "vscode";
import { LanguageClient, LanguageClientOptions, State } from "vscode-languageclient/node";
import { serverCommand } from "./command";
import { ownSettings, SECTION, serverSettings } from "./settings";
import { shown } from "./status";

const PYTHON_EXTENSION = "ms-python.python";

let client: LanguageClient | undefined;
let problem: string | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const log = vscode.window.createOutputChannel("tclint");
  const status = vscode.window.createStatusBarItem("tclint", vscode.StatusBarAlignment.Right);
  status.name = "tclint";
  status.command = "tclint.restart";
  const show = (): void => update(status);
  context.subscriptions.push(
    log,
    status,
    vscode.commands.registerCommand("tclint.restart", () => restart(log, show)),
    vscode.commands.registerCommand("tclint.showLog", () => log.show()),
    vscode.commands.registerCommand("tclint.fixAll", fixAll),
    vscode.window.onDidChangeActiveTextEditor(show),
    vscode.languages.onDidChangeDiagnostics(show),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration(`${SECTION}.path`)) {
        void restart(log, show);
      }
    }),
  );
  await restart(log, show);
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}

async function restart(log: vscode.OutputChannel, show: () => void): Promise<void> {
  await client?.dispose();
  const configured = vscode.workspace.getConfiguration(SECTION).get<string[]>("path", []);
  const command = serverCommand(configured, await interpreter(), fs.existsSync);
  log.appendLine(`starting ${[command.command, ...command.args].join(" ")}`);
  client = new LanguageClient(SECTION, "tclint", command, options(log));
  client.onDidChangeState(show);
  problem = undefined;
  try {
    await client.start();
  } catch (error) {
    problem = `${command.command} does not start: ${String(error)}`;
    log.appendLine(problem);
    void vscode.window.showErrorMessage(
      `tclint: ${problem}. Install tclint-torch[server], or set tclint.path.`,
    );
  }
  show();
}

function options(log: vscode.OutputChannel): LanguageClientOptions {
  const settings = vscode.workspace.getConfiguration(SECTION);
  return {
    documentSelector: [{ language: "python" }],
    outputChannel: log,
    initializationOptions: serverSettings((name) => settings.get(name)),
    middleware: {
      workspace: {
        configuration: async (params, token, next) => {
          const answers = await next(params, token);
          return Array.isArray(answers) ? answers.map(ownSettings) : answers;
        },
      },
    },
  };
}

/** The interpreter that the Python extension has chosen, if it is there. */
async function interpreter(): Promise<string | undefined> {
  const extension = vscode.extensions.getExtension(PYTHON_EXTENSION);
  if (extension === undefined) {
    return undefined;
  }
  const api: any = extension.isActive ? extension.exports : await extension.activate();
  const environment = api?.environments?.getActiveEnvironmentPath?.();
  return typeof environment?.path === "string" ? environment.path : undefined;
}

async function fixAll(): Promise<void> {
  await vscode.commands.executeCommand("editor.action.codeAction", {
    kind: "source.fixAll.tclint",
    apply: "first",
  });
}

function update(status: vscode.StatusBarItem): void {
  const document = vscode.window.activeTextEditor?.document;
  if (document?.languageId !== "python") {
    status.hide();
    return;
  }
  const found = vscode.languages
    .getDiagnostics(document.uri)
    .filter((diagnostic) => diagnostic.source === SECTION);
  const view = shown(stateOf(client?.state), found.length, problem);
  status.text = view.text;
  status.tooltip = view.tooltip;
  status.backgroundColor = view.isError
    ? new vscode.ThemeColor("statusBarItem.errorBackground")
    : undefined;
  status.show();
}

function stateOf(state: State | undefined): "starting" | "running" | "stopped" {
  switch (state) {
    case State.Running:
      return "running";
    case State.Starting:
      return "starting";
    default:
      return "stopped";
  }
}

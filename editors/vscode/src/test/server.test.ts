// The protocol library that the extension's client is built on, against the real server.
import assert from "node:assert/strict";
import { ChildProcess, spawn, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import {
  CodeAction,
  CodeActionRequest,
  CodeActionResolveRequest,
  CodeLensRequest,
  createProtocolConnection,
  DidChangeTextDocumentNotification,
  DidOpenTextDocumentNotification,
  DocumentDiagnosticReport,
  DocumentDiagnosticRequest,
  ExecuteCommandRequest,
  ExitNotification,
  InitializedNotification,
  InitializeRequest,
  ProtocolConnection,
  ShutdownRequest,
  StreamMessageReader,
  StreamMessageWriter,
} from "vscode-languageserver-protocol/node";

const python = process.env.TCLINT_PYTHON ?? "python3";
const there = spawnSync(python, ["-c", "import tclint, pygls"]).status === 0;
const skip = there ? false : `${python} has no tclint; set TCLINT_PYTHON`;

const TEXT = `import torch


@torch.compile
def f(x: torch.Tensor):
    s = "ä😋"; print(s)
    return x


def make():
    return f, (torch.ones(2),)
`;

let server: ChildProcess;
let connection: ProtocolConnection;
let folder: string;
let uri: string;

before(async () => {
  if (!there) {
    return;
  }
  folder = fs.mkdtempSync(path.join(os.tmpdir(), "tclint-"));
  uri = pathToFileURL(path.join(folder, "net.py")).toString();
  server = spawn(python, ["-m", "tclint", "server"], { stdio: ["pipe", "pipe", "inherit"] });
  connection = createProtocolConnection(
    new StreamMessageReader(server.stdout!),
    new StreamMessageWriter(server.stdin!),
  );
  connection.listen();
  const root = pathToFileURL(folder).toString();
  const answer = await connection.sendRequest(InitializeRequest.type, {
    processId: process.pid,
    rootUri: root,
    workspaceFolders: [{ uri: root, name: "net" }],
    capabilities: {
      textDocument: {
        diagnostic: { relatedDocumentSupport: true },
        publishDiagnostics: { dataSupport: true, codeDescriptionSupport: true },
        codeAction: {
          codeActionLiteralSupport: { codeActionKind: { valueSet: ["quickfix"] } },
          dataSupport: true,
          resolveSupport: { properties: ["edit"] },
        },
      },
      workspace: { workspaceEdit: { documentChanges: true } },
    },
    initializationOptions: { codeLens: true },
  });
  assert.equal(answer.capabilities.codeLensProvider !== undefined, true);
  await connection.sendNotification(InitializedNotification.type, {});
  await connection.sendNotification(DidOpenTextDocumentNotification.type, {
    textDocument: { uri, languageId: "python", version: 1, text: TEXT },
  });
});

after(async () => {
  if (!there) {
    return;
  }
  await connection.sendRequest(ShutdownRequest.type);
  await connection.sendNotification(ExitNotification.type);
  connection.dispose();
  fs.rmSync(folder, { recursive: true });
});

async function findings(): Promise<DocumentDiagnosticReport & { kind: "full" }> {
  const report = await connection.sendRequest(DocumentDiagnosticRequest.type, {
    textDocument: { uri },
  });
  assert.equal(report.kind, "full");
  return report as DocumentDiagnosticReport & { kind: "full" };
}

test("a finding is fixed by edits for the version that it was found in", { skip }, async () => {
  const [found] = (await findings()).items;
  assert.equal(found.code, "TCL120");
  assert.deepEqual(found.range.start, { line: 5, character: '    s = "ä😋"; '.length });
  const actions = await connection.sendRequest(CodeActionRequest.type, {
    textDocument: { uri },
    range: found.range,
    context: { diagnostics: [found] },
  });
  const fix = (actions as CodeAction[]).find((action) => action.isPreferred);
  assert.ok(fix);
  const resolved = await connection.sendRequest(CodeActionResolveRequest.type, fix);
  const [change] = resolved.edit!.documentChanges!;
  assert.ok("textDocument" in change && change.textDocument.version === 1);
});

test("a stale fix is refused, and what is gone is not reported", { skip }, async () => {
  const [found] = (await findings()).items;
  const actions = (await connection.sendRequest(CodeActionRequest.type, {
    textDocument: { uri },
    range: found.range,
    context: { diagnostics: [found] },
  })) as CodeAction[];
  await connection.sendNotification(DidChangeTextDocumentNotification.type, {
    textDocument: { uri, version: 2 },
    contentChanges: [
      { range: { start: { line: 5, character: 0 }, end: { line: 6, character: 0 } }, text: "" },
    ],
  });
  await assert.rejects(connection.sendRequest(CodeActionResolveRequest.type, actions[0]));
  assert.deepEqual((await findings()).items, []);
});

test("the lens and the commands are there", { skip }, async () => {
  const [told] = (await connection.sendRequest(CodeLensRequest.type, {
    textDocument: { uri },
  }))!;
  assert.match(told.command!.title, /^Compiled at .*:4: no graph breaks in this file$/);
  const page = await connection.sendRequest(ExecuteCommandRequest.type, {
    command: "tclint.explain",
    arguments: ["TCL101"],
  });
  assert.match(String(page), /item-in-compiled-region/);
});

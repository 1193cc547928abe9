import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { test } from "node:test";
import { besideInterpreter, serverCommand } from "../command";
import { ownSettings, SERVER_SETTINGS, serverSettings } from "../settings";
import { shown } from "../status";

const never = (): boolean => false;
const manifest = JSON.parse(
  fs.readFileSync(path.join(__dirname, "..", "..", "package.json"), "utf-8"),
);

test("the settings name the command", () => {
  const command = serverCommand(["python", "-m", "tclint"], "/v/bin/python", () => true);
  assert.deepEqual(command, { command: "python", args: ["-m", "tclint", "server"] });
});

test("without a setting it is the interpreter's tclint, if there is one", () => {
  const there = serverCommand([], "/v/bin/python", (file) => file === "/v/bin/tclint", "linux");
  assert.equal(there.command, "/v/bin/tclint");
  assert.equal(serverCommand([], "/v/bin/python", never, "linux").command, "tclint");
  assert.equal(serverCommand([""], undefined, never).command, "tclint");
});

test("on Windows the scripts have a suffix", () => {
  assert.equal(
    besideInterpreter("C:\\v\\Scripts\\python.exe", "win32"),
    "C:\\v\\Scripts\\tclint.exe",
  );
});

test("the status counts findings and tells what is wrong", () => {
  assert.equal(shown("running", 0).text, "$(check) tclint");
  assert.equal(shown("running", 1).tooltip, "tclint: 1 finding in this file");
  assert.equal(shown("running", 3).text, "$(flame) tclint 3");
  assert.equal(shown("stopped", 0, "no such file").tooltip, "no such file");
  assert.ok(shown("stopped", 0).isError);
  assert.ok(!shown("starting", 0).isError);
});

test("the server is sent its own settings only", () => {
  const settings: Record<string, unknown> = { path: ["x"], codeLens: true, enable: null };
  assert.deepEqual(
    serverSettings((name) => settings[name]),
    { codeLens: true },
  );
});

test("so it is when it asks for them", () => {
  assert.deepEqual(ownSettings({ path: ["x"], codeLens: true, enable: null }), {
    codeLens: true,
  });
  assert.equal(ownSettings(null), null);
});

test("every setting of the server is declared", () => {
  const declared = Object.keys(manifest.contributes.configuration.properties);
  assert.deepEqual(
    declared.filter((name) => name !== "tclint.path").sort(),
    SERVER_SETTINGS.map((name) => `tclint.${name}`).sort(),
  );
});

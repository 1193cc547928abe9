// Photographs VS Code with the extension: a file with its findings, and the fixes that it offers.
//
// node editor_picture.cjs TOOLS CHROMIUM VSIX TCLINT FILE ROW:COLUMN PICTURE
//
// TOOLS is a folder with code-server and puppeteer-core in its node_modules.
"use strict";
const { spawn, spawnSync } = require("node:child_process");
const { createRequire } = require("node:module");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");

const [tools, chromium, vsix, tclint, file, place, picture] = process.argv.slice(2);
const PORT = 8947;
const SETTINGS = {
  "tclint.path": [tclint],
  "chat.disableAIFeatures": true,
  "editor.minimap.enabled": false,
  "editor.stickyScroll.enabled": false,
  "window.commandCenter": false,
  "workbench.startupEditor": "none",
  "workbench.secondarySideBar.defaultVisibility": "hidden",
};
const wait = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds));

async function photograph() {
  const puppeteer = createRequire(path.join(path.resolve(tools), "x.js"))("puppeteer-core");
  const browser = await puppeteer.launch({ executablePath: chromium, args: ["--no-sandbox"] });
  try {
    const page = await browser.newPage();
    await page.setViewport({ width: 1000, height: 680 });
    const opened = [["openFile", `vscode-remote://127.0.0.1:${PORT}${file}`]];
    const query = `folder=${path.dirname(file)}&payload=${encodeURIComponent(JSON.stringify(opened))}`;
    await page.goto(`http://127.0.0.1:${PORT}/?${query}`, { timeout: 120000 });
    await page.waitForSelector(".squiggly-warning", { timeout: 240000 });
    await wait(5);
    await page.click(".view-lines");
    await press(page, "KeyG");
    await page.keyboard.type(place);
    await page.keyboard.press("Enter");
    await wait(2);
    await press(page, "Period");
    await page.waitForSelector(".action-widget", { timeout: 60000 });
    await wait(2);
    await page.screenshot({ path: picture });
  } finally {
    await browser.close();
  }
}

async function press(page, key) {
  await page.keyboard.down("Control");
  await page.keyboard.press(key);
  await page.keyboard.up("Control");
  await wait(1.5);
}

async function main() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "editor-"));
  const entry = path.join(path.resolve(tools), "node_modules/code-server/out/node/entry.js");
  const user = path.join(folder, "user");
  fs.mkdirSync(path.join(user, "User"), { recursive: true });
  fs.writeFileSync(path.join(user, "User", "settings.json"), JSON.stringify(SETTINGS));
  const config = path.join(folder, "config.yaml");
  fs.writeFileSync(config, "auth: none\n");
  const common = [entry, "--config", config, "--user-data-dir", user];
  common.push("--extensions-dir", path.join(folder, "extensions"));
  spawnSync(process.execPath, [...common, "--install-extension", vsix], { stdio: "inherit" });
  const options = ["--bind-addr", `127.0.0.1:${PORT}`, "--disable-telemetry"];
  options.push("--disable-update-check", "--disable-workspace-trust");
  const server = spawn(process.execPath, [...common, ...options], { stdio: "ignore" });
  try {
    await wait(8);
    await photograph();
  } finally {
    server.kill();
    await wait(2);
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

main();

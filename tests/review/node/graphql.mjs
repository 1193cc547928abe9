// Holds the GraphQL document on standard input to GitHub's schema; prints what is wrong.
import { readFileSync } from "node:fs";
import { validate } from "@octokit/graphql-schema";

for (const found of validate(readFileSync(0, "utf8"))) {
  console.log(found.message);
}

#!/usr/bin/env bash
# Reviews the pull request. Reads GITHUB_TOKEN, CHECKOUT, MODE, CONFIG_FROM, SARIF
# and DRAFTS; writes `findings` and `sarif-file`.
set -euo pipefail

options=(--repo "$CHECKOUT" --mode "$MODE" --config-from "$CONFIG_FROM")
if [ "$SARIF" = true ]; then
  options+=(--sarif "$RUNNER_TEMP/tclint.sarif")
fi
if [ "$DRAFTS" = true ]; then
  options+=(--drafts)
fi

rm -f "$RUNNER_TEMP/tclint.sarif"
status=0
"$RUNNER_TEMP/tclint/bin/tclint" review "${options[@]}" || status=$?
if [ "$status" -gt 1 ]; then
  exit "$status"
fi
if [ "$status" -eq 1 ]; then
  echo "findings=true" >> "$GITHUB_OUTPUT"
fi
if [ -f "$RUNNER_TEMP/tclint.sarif" ]; then
  echo "sarif-file=$RUNNER_TEMP/tclint.sarif" >> "$GITHUB_OUTPUT"
fi

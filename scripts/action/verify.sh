#!/usr/bin/env bash
# Verifies programs of the checkout, which runs their code. Reads ACTION, PYTHON, TARGETS (one a
# line) and OPTIONS; writes `findings` and `report`.
set -euo pipefail

"$PYTHON" -m pip install --quiet --disable-pip-version-check "$ACTION[verify]"
mapfile -t targets < <(printf '%s\n' "$TARGETS" | sed '/^[[:space:]]*$/d')
read -r -a options <<< "$OPTIONS"

report="$RUNNER_TEMP/tclint-verify.json"
status=0
"$PYTHON" -m tclint verify "${options[@]}" --output-format json "${targets[@]}" > "$report" \
  || status=$?
if [ "$status" -gt 1 ]; then
  exit "$status"
fi
if [ "$status" -eq 1 ]; then
  echo "findings=true" >> "$GITHUB_OUTPUT"
fi
echo "report=$report" >> "$GITHUB_OUTPUT"

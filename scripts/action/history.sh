#!/usr/bin/env bash
# Fetches what a shallow checkout lacks: the base, the head, and where they parted. Reads PYTHON and
# TOKEN.
set -euo pipefail

read -r base head < <("$PYTHON" -I - "$GITHUB_EVENT_PATH" << 'EOF'
import json, sys

pull = json.load(open(sys.argv[1], encoding="utf-8")).get("pull_request")
if not pull:
    sys.exit("tclint: this job is for no pull request")
print(pull["base"]["sha"], pull["head"]["sha"])
EOF
) || exit 1
if git merge-base "$base" "$head" > /dev/null 2>&1; then
  exit 0
fi

# The token goes neither to the command line nor into the repository's configuration.
server="${GITHUB_SERVER_URL:-https://github.com}"
credentials="$(printf 'x-access-token:%s' "$TOKEN" | base64 | tr -d '\n')"
export GIT_CONFIG_COUNT=2 GIT_TERMINAL_PROMPT=0
# An empty value first takes away what the checkout may have left: two such headers are an error.
export GIT_CONFIG_KEY_0="http.$server/.extraHeader" GIT_CONFIG_VALUE_0=
export GIT_CONFIG_KEY_1="http.$server/.extraHeader"
export GIT_CONFIG_VALUE_1="Authorization: Basic $credentials"

fetch() {
  git -c gc.auto=0 fetch --quiet --no-tags --no-recurse-submodules --no-write-fetch-head "$@"
}
fetch --depth=50 origin "$base" "$head"
for depth in 200 1000 5000; do
  if git merge-base "$base" "$head" > /dev/null 2>&1; then
    exit 0
  fi
  fetch --depth="$depth" origin "$base" "$head"
done
git merge-base "$base" "$head" > /dev/null 2>&1 || fetch --unshallow origin "$base" "$head"

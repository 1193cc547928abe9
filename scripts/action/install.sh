#!/usr/bin/env bash
# Makes $RUNNER_TEMP/tclint, a virtual environment with tclint alone, unless the cache brought it.
# Reads PYTHON, VERSION and ACTION (the action's folder).
set -euo pipefail

folder="$RUNNER_TEMP/tclint"
if "$folder/bin/tclint" --version 2> /dev/null; then
  exit 0
fi
rm -rf "$folder"
"$PYTHON" -I -m venv "$folder"
if [ -n "$VERSION" ]; then
  package="tclint-torch[review]==$VERSION"
else
  package="$ACTION[review]"
fi
"$folder/bin/python" -I -m pip install --quiet --disable-pip-version-check "$package"
"$folder/bin/tclint" --version

#!/usr/bin/env bash
# Makes $RUNNER_TEMP/tclint, a virtual environment with tclint alone, unless the cache brought it.
# Whatever it needs is installed from the files of requirements/, which name every hash; so is what
# builds it. Reads PYTHON, VERSION and ACTION (the action's folder).
set -euo pipefail

folder="$RUNNER_TEMP/tclint"
if "$folder/bin/tclint" --version 2> /dev/null; then
  exit 0
fi
rm -rf "$folder"
"$PYTHON" -I -m venv "$folder"
pip() {
  "$folder/bin/python" -I -m pip --quiet --disable-pip-version-check "$@"
}
pip install --require-hashes -r "$ACTION/requirements/run.txt"
if [ -n "$VERSION" ]; then
  pip install --no-deps "tclint-torch==$VERSION"
  # A release that needs other versions than this action has is refused.
  pip check
else
  builds="$folder/build.txt"
  awk '/^[^ ]/ { keep = /^setuptools==/ } keep' "$ACTION/requirements/release.txt" > "$builds"
  pip install --require-hashes -r "$builds"
  pip install --no-deps --no-build-isolation "$ACTION"
fi
"$folder/bin/tclint" --version

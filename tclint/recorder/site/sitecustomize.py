"""Start the recorder in this process; then be the ``sitecustomize`` that would have been here."""

import os
import sys

_FOLDER = os.path.dirname(__file__)

if (
    os.environ.get("TCLINT_RECORD")
    and sys.version_info >= (3, 10)
    and sys.implementation.name == "cpython"
):
    try:
        __import__("tclint_recorder.start", fromlist=["begin"]).begin()
    except Exception:  # noqa: BLE001 - the program runs, recorded or not
        pass

sys.path[:] = [entry for entry in sys.path if entry != _FOLDER]
sys.modules.pop("sitecustomize", None)
# Where there is none, its absence is told to `site` in the way that it expects.
__import__("sitecustomize")

"""A folder in which a script can run: its checkout, its data, what its processes are told."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from benchmarks.run_scripts.listed import Script

_DATA = Path(__file__).with_name("data.py")
_STUB = "class openai_object:\n    OpenAIObject = dict\n"
_SEEDS = """
import random, numpy, torch
random.seed(0); numpy.random.seed(0); torch.manual_seed(0)
"""


def lay_out(script: Script, checkouts: Path, python: str, work: Path) -> None:
    """Copy the checkout, and write the made data."""
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(checkouts / script.checkout, work, ignore=shutil.ignore_patterns(".git"))
    made = [python, str(_DATA), script.data, str(work)]
    subprocess.run(made, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for name in script.stubs:
        # Imported by the script, and not used on this way through it.
        (work / f"{name}.py").write_text(_STUB)
    if not script.seeded:
        (work / "sitecustomize.py").write_text(_SEEDS)


def arguments(script: Script, device: str, work: Path, more: str = "") -> list[str]:
    """What Python is given."""
    of_device = script.cpu if device == "cpu" else script.cuda
    return f"{script.arguments} {of_device or ''} {more}".format(data=work).split()


def environment(script: Script, work: Path, device: str) -> dict[str, str]:
    """The variables of its processes."""
    told = {name: text.format(data=work) for name, text in script.environment}
    paths = [told.get("PYTHONPATH", ""), "" if script.seeded else str(work)]
    paths.append(os.environ.get("PYTHONPATH", ""))
    told["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    one = {"CUBLAS_WORKSPACE_CONFIG": ":4096:8"} if device == "cuda" else {}
    one["OMP_NUM_THREADS"] = "1" if device == "cpu" else "8"
    return {**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONHASHSEED": "0", **one, **told}

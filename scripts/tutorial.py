"""Write the tutorial about a script: ``python -m scripts.tutorial``; every output is of a real run.

The runs take minutes. Their outputs stay in a folder (``--outputs``, by default build/tutorial)
and are not made again while they are there.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from string import Template

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "fixtures" / "tutorial" / "train.py"
PAGE = ROOT / "docs" / "slow-script.md"
COMMANDS = {
    "cost": "tclint run -- python train.py",
    "check": "tclint check train.py --output-format concise",
    "diff": "tclint fix --diff train.py",
    "fix": "tclint fix --verify --no-speed train.py:make",
}
"""In this order: the last one changes the script."""
_OWN = "activation:"
"""How the lines begin that the script itself prints."""
_TEXT = Template("""\
# From a slow script to a proved fix

<!-- Written by `make tutorial`; do not edit. -->

Somebody wrote this, wrapped the model in `torch.compile`, and wonders where the speed is. It is
`fixtures/tutorial/train.py` in tclint's repository:

```python
$source
```

All output on this page comes from a real run, on one thread of a CPU that others were using too; so
the times mean little elsewhere.

## What does it cost

`tclint run` starts the script as it is, and says what its lines cost in a step.

```console
$$ $cost_command
$cost
```

## What is wrong

`tclint check` needs no run. It reads the file, and would have said this before the first one:

```console
$$ $check_command
$check
```

`tclint rule TCL140` explains one of the rules, with examples, and says when to leave its findings.

## What would change

```console
$$ $diff_command
$diff
```

All of these fixes are *safe*: eager code gives the same bits. In compiled code the `print` is
skipped, and the fix says so.

## Prove and apply

`make`, in the script, returns the model and what it is called with. tclint compiles it as it is
and with the fixes, each in a process of its own, and keeps a fix only if its break is gone and
results, state and exceptions are the same. Only then does it write the file.

```console
$$ $fix_command
$fix
```

How much faster a step gets depends on the machine: for a GPU, where the CPU waits at every break,
there are [measurements](benchmark-verify.md). `tclint run --prove` compares the losses and the
times of both versions, without changing the file.

## Keep it so

- A [pre-commit hook](pre-commit.md) or a [review](github.md) of each pull request finds more.
- A test limits the number of graph breaks: `@pytest.mark.compiles(breaks=0)`, by
  [the plugin](run.md#in-pytest).
- [Silencing](silencing.md) accepts what may stay.
""")


def outputs(kept: Path) -> dict[str, str]:
    """What each command prints, in a folder with a copy of the script."""
    kept.mkdir(parents=True, exist_ok=True)
    folder = kept / "project"
    if all((kept / f"{name}.txt").is_file() for name in COMMANDS):
        return {name: _read(kept, name) for name in COMMANDS}
    folder.mkdir(exist_ok=True)
    shutil.copy(SCRIPT, folder / SCRIPT.name)
    for name, command in COMMANDS.items():
        known = kept / f"{name}.txt"
        if name == "fix" or not known.is_file():
            known.write_text(_run(command, folder), encoding="utf-8")
    return {name: _read(kept, name) for name in COMMANDS}


def _run(command: str, folder: Path) -> str:
    """Both streams of a command, as a terminal without colours shows them."""
    search = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    more = {
        "PATH": search,
        "TCLINT_NO_CACHE": "1",
        "TORCH_LOGS": "-dynamo",
        "NO_COLOR": "1",
        "OMP_NUM_THREADS": "1",
    }
    done = subprocess.run(
        shlex.split(command),
        cwd=folder,
        env={**os.environ, **more},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode > 1:
        raise SystemExit(done.stdout)
    return done.stdout


def _read(kept: Path, name: str) -> str:
    """An output without torch's warnings, of the script's own lines the first two."""
    lines = (kept / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    lines = [line.rstrip() for line in lines if "torch/_dynamo" not in line.partition("]")[0]]
    own = [line for line in lines if line.startswith(_OWN)]
    shown = [*own[:2], "..."] if own else []
    return "\n".join([*shown, *(line for line in lines if not line.startswith(_OWN))])


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--outputs", type=Path, default=ROOT / "build" / "tutorial")
    told = outputs(parser.parse_args().outputs)
    commands = {f"{name}_command": command for name, command in COMMANDS.items()}
    source = SCRIPT.read_text(encoding="utf-8").rstrip()
    PAGE.write_text(_TEXT.substitute(source=source, **commands, **told), encoding="utf-8")


if __name__ == "__main__":
    main()

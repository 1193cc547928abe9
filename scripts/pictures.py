"""Draw what commands print in a terminal: ``python -m scripts.pictures`` writes docs/assets/*.svg.

Each picture is of a real run on the repository's programs.
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent
ASSETS = ROOT / "docs" / "assets"
PICTURES = {
    "check": ("check", "fixtures/programs/conv_net.py", "--select", "TCL140,TCL120"),
    "fix": ("fix", "--diff", "fixtures/programs/conv_net.py", "--select", "TCL140,TCL120"),
}
"""The arguments of the command in each picture."""
_WIDTH = 100
# Rich takes its font from elsewhere; the page needs nothing from there.
_FONTS = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)


def draw(name: str, arguments: tuple[str, ...]) -> str:
    """The picture of one run, as SVG."""
    environment = {**os.environ, "FORCE_COLOR": "1", "COLUMNS": str(_WIDTH), "TCLINT_NO_CACHE": "1"}
    environment.pop("NO_COLOR", None)
    done = subprocess.run(
        [sys.executable, "-m", "tclint", *arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode > 1:
        raise SystemExit(done.stderr)
    console = Console(record=True, width=_WIDTH, force_terminal=True, file=io.StringIO())
    console.print(Text(f"$ tclint {' '.join(arguments)}", style="bold"))
    console.print(Text.from_ansi(done.stdout.rstrip()))
    drawn = console.export_svg(title="tclint", theme=MONOKAI, unique_id=f"tclint-{name}")
    return _FONTS.sub("", drawn).replace("Fira Code", "ui-monospace")


def main() -> None:
    """Write all pictures."""
    ASSETS.mkdir(parents=True, exist_ok=True)
    for name, arguments in PICTURES.items():
        (ASSETS / f"{name}.svg").write_text(draw(name, arguments), encoding="utf-8")


if __name__ == "__main__":
    main()

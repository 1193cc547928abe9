"""Draw what tclint shows: ``python -m scripts.pictures`` writes docs/assets.

Each picture is of a real run on the repository's programs. Terminals are drawn always. The editor
needs ``--chromium COMMAND`` and ``--editor FOLDER``, one in which ``npm install puppeteer-core
code-server`` was run, by the Node.js that is the first on PATH. ``npm run package`` in
editors/vscode must have packed the extension.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent
ASSETS = ROOT / "docs" / "assets"
EXTENSION = ROOT / "editors" / "vscode"
PROGRAM = ROOT / "fixtures" / "programs" / "conv_net.py"
PICTURES = {
    "check": ("check", "fixtures/programs/conv_net.py", "--select", "TCL140,TCL120"),
    "fix": ("fix", "--diff", "fixtures/programs/conv_net.py", "--select", "TCL140,TCL120"),
}
"""The arguments of the command in each picture of a terminal."""
REVIEWED = """\
import torch


@torch.compile
def scaled(x: torch.Tensor) -> torch.Tensor:
    return torch.relu(x)
"""
"""What a change adds a line to, for the picture of its review."""
_WIDTH = 100
# Rich takes its font from elsewhere; the page needs nothing from there.
_FONTS = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)


def draw(name: str, arguments: tuple[str, ...], folder: Path = ROOT) -> str:
    """The picture of one run in a folder, as SVG."""
    done = _tclint(*arguments, folder=folder, FORCE_COLOR="1", COLUMNS=str(_WIDTH))
    console = Console(record=True, width=_WIDTH, force_terminal=True, file=io.StringIO())
    console.print(Text(f"$ tclint {' '.join(arguments)}", style="bold"))
    console.print(Text.from_ansi(done.rstrip()))
    drawn = console.export_svg(title="tclint", theme=MONOKAI, unique_id=f"tclint-{name}")
    return _FONTS.sub("", drawn).replace("Fira Code", "ui-monospace")


def draw_review() -> str:
    """The picture of a review of a change that adds a line."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _git(folder, "init", "--quiet", "--initial-branch=main")
        for text in (
            REVIEWED,
            REVIEWED.replace("    return", "    x = x * x.max().item()\n    return"),
        ):
            (folder / "net.py").write_text(text, encoding="utf-8")
            _git(folder, "add", "net.py")
            _git(folder, "commit", "--quiet", "--message", "change")
        return draw("review", ("review", "--dry-run", "--base", "HEAD~1"), folder)


def photograph_editor(chromium: str, tools: Path, picture: Path) -> None:
    """VS Code in a browser, with the extension, its findings, and the fixes of one."""
    node, packed = shutil.which("node"), EXTENSION / "tclint.vsix"
    if node is None or not packed.is_file():
        raise SystemExit("the editor needs Node.js, and editors/vscode/tclint.vsix")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "project", PROGRAM.name)
        file.parent.mkdir()
        shutil.copy(PROGRAM, file)
        script = ROOT / "scripts" / "editor_picture.cjs"
        tclint = Path(sys.executable).with_name("tclint")
        command = (node, script, tools, chromium, packed, tclint, file,
                   "28:30", picture)  # fmt: skip
        subprocess.run(command, check=True)


def _git(folder: Path, *arguments: str) -> None:
    author = ("-c", "user.name=tclint", "-c", "user.email=tclint@example.org")
    subprocess.run(("git", *author, *arguments), cwd=folder, check=True)


def _tclint(*arguments: str, folder: Path = ROOT, **environment: str) -> str:
    """What a command prints in a folder."""
    settings = {**os.environ, "TCLINT_NO_CACHE": "1", **environment}
    settings.pop("NO_COLOR", None)
    command = (sys.executable, "-m", "tclint", *arguments)
    done = subprocess.run(
        command, cwd=folder, env=settings, capture_output=True, text=True, check=False
    )
    if done.returncode > 1:
        raise SystemExit(done.stderr)
    return done.stdout


def main() -> None:
    """Make all pictures for which the tools are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chromium", help="the command of the browser")
    parser.add_argument("--editor", type=Path, help="the folder with code-server")
    options = parser.parse_args()
    ASSETS.mkdir(parents=True, exist_ok=True)
    for name, arguments in PICTURES.items():
        (ASSETS / f"{name}.svg").write_text(draw(name, arguments), encoding="utf-8")
    (ASSETS / "review.svg").write_text(draw_review(), encoding="utf-8")
    if options.chromium and options.editor:
        photograph_editor(options.chromium, options.editor, ASSETS / "vscode.png")
        shutil.copy(ASSETS / "vscode.png", EXTENSION / "images" / "findings.png")


if __name__ == "__main__":
    main()

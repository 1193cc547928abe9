"""Names, lines, messages and settings that try to rewrite the screen, the report or the review.

Every command runs once at a terminal and once into files: nothing but line ends and tclint's own
colours may come out as control characters.
"""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
import subprocess
import sys
import unicodedata
from dataclasses import replace
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from tclint.cli.verifying import render as render_verified
from tclint.logs import PrintableFormatter
from tclint.printable import json_text, printable, visible
from tclint.report.formats import OutputFormat
from tclint.report.workflow import command
from tclint.review.markdown import code, prose
from tclint.verify.results import Arm, Failure
from tests.cli_runs import tclint
from tests.review_repository import new_repository
from tests.test_verify_report import HERE, broken, probe, report

if TYPE_CHECKING:
    from pathlib import Path

MOVES = "\x1b[35m\x1b[2J\x1b]0;title\x07\x1b]8;;http://evil.example\x1b\\\x9b1A\x08\x7f"
HIDES = "\u202e\u2066\u2069\u200b\u200d\ufeff\u2028\u2029\u0085"
HOSTILE = MOVES + HIDES
"""Without what ends a line: a tab and a form feed are in the program."""
MARKUP = "<script>alert(1)</script> ::error::no @user `` ![x](http://evil.example) &amp;"

PROGRAM = f"""\
import torch


@torch.compile
def f(x):
    "{HOSTILE}{MARKUP}"
    s = x.sum().item()  #\t\x0c{HOSTILE}{MARKUP}
    return x * s


@torch.compile
def g(x):
    print("{HOSTILE}", x.shape)  # {HOSTILE}
    "{HOSTILE}"
    return torch.tensor(x.sum().item() * len("{MOVES}"))
"""
NAMES = (
    b"plain.py",
    b"latin-\xe9.py",
    b"two words.py",
    b"li\nne.py",
    b"esc\x1b[35m\x1b[2J\x07.py",
    "c1\x9b1A\x7f.py".encode(),
    "\u202eyp.bidi\u2066.py".encode(),
    "sep\u2028\u200b\ufeff.py".encode(),
    b"::error file=x::y%0A.py",
    b"<img src=x onerror=alert(1)>.py",
    b"quo\"te'`@user`.py",
    b"tab\tb.py",
)
CONFIGURATION = f"""\
[tool.tclint]
exclude = [{json.dumps("x" + HOSTILE)}]
[tool.tclint.per-file-ignores]
{json.dumps("y" + HOSTILE)} = ["TCL101"]
"""
OWN_STYLES = re.compile("\x1b\\[(?:[0-4]|3[12346]|9[0-7])(?:;(?:[0-4]|3[12346]|9[0-7]))*m")
OWN_BAR = re.compile("\r(?:[━╌#-]* \\d+/\\d+ Checking|\x1b\\[2K)")
OWN_LINKS = re.compile(
    "\x1b]8;;(?:https?://(?!evil)[!-~]*|file:///[!-~]*/rules/[!-~]*\\.md)?\x1b\\\\"
)

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
needs_terminals = pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")

AT_A_TERMINAL = """\
import json, os, sys
from tclint.cli import main
for arguments in json.loads(sys.argv[1]):
    print("=" * 8, ascii(arguments), flush=True)
    sys.argv[1:] = [os.fsdecode(bytes.fromhex(one)) for one in arguments]
    try:
        main()
    except SystemExit:
        pass
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A repository in which everything that has a name or a text is hostile."""
    repository = new_repository(tmp_path / "repo")
    (repository.folder / "pyproject.toml").write_text(CONFIGURATION, "utf-8")
    repository.commit({})
    for name in NAMES:
        path = repository.folder / os.fsdecode(name)
        try:
            path.write_bytes(PROGRAM.encode())
        except OSError:
            continue  # the file system takes no such names
    (repository.folder / "broken\x1b[35m.py").write_bytes(f"def f(:  # {HOSTILE}\n".encode())
    (repository.folder / "bytes\x1b[35m.py").write_bytes(b"x = '\xff\x1b'\n")
    repository.commit({})
    return repository.folder


def leaks(text: str, *, styled: bool = False) -> list[str]:
    """The lines in which something stands that does not show itself."""
    if styled:
        for own in (OWN_STYLES, OWN_LINKS, OWN_BAR):
            text = own.sub("", text)
    return [ascii(line)[:300] for line in text.split("\n") if not _shows_itself(line)]


def _shows_itself(line: str) -> bool:
    return all(c.isprintable() or unicodedata.category(c) == "Zs" for c in line)


COMMANDS = (
    *(["check", "--output-format", one.value] for one in OutputFormat),
    ["check", "--statistics"],
    ["check", "--show-files"],
    ["check", "--show-settings"],
    ["check", "--scope", "all"],
    ["check", "--explain-types", "plain.py:6"],
    ["check", "--explain-types", "plain.py:7"],
    ["check", "--explain-types", f"no{HOSTILE}.py:7"],
    ["check", "--explain-types", HOSTILE],
    ["check", "--diff-only=HEAD"],
    ["check", "--diff-only", HOSTILE],
    ["check", f"missing{HOSTILE}.py"],
    ["check", "--config", f"x{HOSTILE} = 1"],
    ["check", "--config", f'select = ["{HOSTILE}"]'],
    ["check", "--config", f'select = ["TCL{MARKUP}"]'],
    ["check", "--config", f"none{HOSTILE}.toml"],
    ["check", "--config", "../hostile.toml"],
    ["check", "--scope", HOSTILE],
    ["check", "--target-torch", HOSTILE],
    ["check", f"--{HOSTILE}"],
    ["check", "--baseline", f"none{HOSTILE}.json"],
    ["check", "--baseline", "../old.json", "--update-baseline"],
    ["check", "--baseline", "../hostile.json"],
    ["check", "--cache-dir", f"cache{HOSTILE}"],
    ["check", "--output-file", f"none{HOSTILE}/x"],
    ["rule", HOSTILE],
    ["rule", "--all"],
    ["config", HOSTILE],
    ["config"],
    ["clean", "--cache-dir", f"none{HOSTILE}"],
    ["clean", "--cache-dir", "."],
    [HOSTILE],
    ["verify", f"none{HOSTILE}.py:make"],
    ["verify", HOSTILE],
    ["review", "--dry-run", "--base", "HEAD~1"],
    ["review", "--dry-run", "--base", "HEAD~1", "--output-format", "json"],
    ["review", "--mode", "annotations", "--base", "HEAD~1"],
    ["review", "--mode", "annotations", "--forge", "github", "--base", "HEAD~1"],
    ["review", "--dry-run", "--base", HOSTILE],
    ["fix", "--diff"],
    ["fix", "--diff", "--output-format", "json"],
    ["fix", "--diff", "--unsafe-fixes"],
    ["fix"],
    ["check", "--add-ignore=because"],
    ["check"],
)


@pytest.mark.slow
@needs_git
@needs_terminals
def test_nothing_moves_the_cursor_of_a_terminal(folder: Path) -> None:
    (folder.parent / "hostile.toml").write_text(f'"{HIDES[0]}" = [\x1b', "utf-8")
    (folder.parent / "hostile.json").write_text(json.dumps({HOSTILE: HOSTILE}), "utf-8")
    shown = _at_a_terminal(COMMANDS, folder)
    assert shown.count("=" * 8) == len(COMMANDS)
    assert "Traceback" not in shown
    assert leaks(shown, styled=True) == []
    assert "\x1b[31m" in shown
    assert "\x1b[35m" not in shown


@needs_git
def test_nothing_hides_in_what_other_programs_read(folder: Path) -> None:
    for one in OutputFormat:
        done = tclint("check", "--output-format", one.value, cwd=folder, GITHUB_ACTIONS="true")
        assert leaks(done.stdout) == leaks(done.stderr) == []
        _is_sound(one, done.stdout)
    file = folder.parent / "report"
    tclint("check", "--output-format", one.value, "--output-file", str(file), cwd=folder)
    assert file.read_bytes().decode("utf-8") == done.stdout


def _is_sound(form: OutputFormat, text: str) -> None:
    if form in {OutputFormat.JSON, OutputFormat.SARIF, OutputFormat.GITLAB}:
        json.dumps(json.loads(text), ensure_ascii=False).encode("utf-8")
    elif form is OutputFormat.JUNIT:
        ET.fromstring(text)
    elif form is OutputFormat.GITHUB:
        found = re.compile(r"::(error|warning|notice) title=[^:]*::[^\n]*")
        assert all(found.fullmatch(line) for line in text.splitlines())


@needs_git
def test_a_piped_patch_keeps_every_byte(folder: Path) -> None:
    odd = {
        "latin.py": ("# -*- coding: latin-1 -*-\n# \xe9\n" + PROGRAM).replace(HIDES, "\xff"),
        "crlf.py": PROGRAM.replace("\n", "\r\n"),
        "mark.py": "\ufeff" + PROGRAM,
        "open.py": PROGRAM.rstrip("\n"),
    }
    for name, text in odd.items():
        encoding = "latin-1" if name == "latin.py" else "utf-8"
        (folder / name).write_bytes(text.encode(encoding))
    patch = _piped("fix", "--diff", cwd=folder)
    fixed = folder.parent / "fixed"
    shutil.copytree(folder, fixed)
    (folder.parent / "fix.patch").write_bytes(patch)
    subprocess.run(
        ["git", "-c", "core.autocrlf=false", "apply", "../fix.patch"], cwd=folder, check=True
    )
    tclint("fix", cwd=fixed)
    names = [*map(os.fsdecode, NAMES), *odd]
    there = [name for name in names if (folder / name).exists()]
    assert len(there) > len(odd)
    for name in there:
        after = (folder / name).read_bytes()
        assert after == (fixed / name).read_bytes(), ascii(name)
        assert after.decode("latin-1") != odd.get(name, PROGRAM), ascii(name)


@needs_git
def test_piped_names_of_files_are_those_of_the_files(folder: Path) -> None:
    listed = _piped("check", "--show-files", cwd=folder)
    for path in folder.glob("*.py"):
        assert os.fsencode(path.name) + b"\n" in listed


def test_reports_of_verification_show_only_themselves() -> None:
    target = f"a{HOSTILE}{MARKUP}.py:make"
    hostile = replace(
        broken(4), reason=f"{HOSTILE}\n{MARKUP}", filename=f"/project/m{HOSTILE}{MARKUP}.py"
    )
    gone = Arm("after", None, failure=Failure("crash", f"crashed {HOSTILE}\n{MARKUP}"))
    found = [replace(report(arm), target=target) for arm in (Arm("after", probe(hostile)), gone)]
    assert str(HERE) == "/project"
    for form in ("text", "json", "github"):
        text = render_verified(found, form)
        assert leaks(text) == [], form
    assert all(
        re.fullmatch(r"::(error|warning) [^:]*::[^\n]*", line)
        for line in render_verified(found, "github").splitlines()
    )


def test_what_is_logged_moves_no_cursor() -> None:
    record = logging.makeLogRecord({"msg": "%s: refused", "args": (HOSTILE,)})
    assert leaks(PrintableFormatter().format(record)) == []


def test_a_workflow_command_stays_one_command() -> None:
    assert (
        command("error", {"file": "a:b,c%\n::warning::x"}, "50%\r\n::set-env name=x::y")
        == "::error file=a%3Ab%2Cc%25%0A%3A%3Awarning%3A%3Ax::50%25␍%0A::set-env name=x::y"
    )


@pytest.mark.parametrize("output_format", ["concise", "full"])
def test_no_name_of_a_file_begins_a_line_as_a_command(tmp_path: Path, output_format: str) -> None:
    (tmp_path / "::error::x.py").write_text(PROGRAM)
    (tmp_path / "::notice").mkdir()
    (tmp_path / "::notice" / "x.py").write_text("def (")
    printed = tclint("check", "--output-format", output_format, cwd=tmp_path).stdout
    assert "./::error::x.py:" in printed
    assert "./::notice/x.py:" in printed
    assert not re.search(r"^\s*::", printed, re.MULTILINE)


def test_what_a_review_quotes_is_neither_markup_nor_a_command() -> None:
    said = prose(f"/merge {MARKUP} !12 ~bug %1 $3 {HOSTILE}")
    assert leaks(said.replace("\u200b", "")) == []
    assert said.startswith("\\/merge")
    assert "<" not in said
    for one in ("@user", "!12", "~bug", "%1", "$3"):
        assert one not in said
    quoted = code(f"``` {HOSTILE}")
    assert leaks(quoted) == []
    assert quoted.startswith("````")


def test_what_shows_itself_stays_as_it_is() -> None:
    for text in ("plain", "größer → ∑ 漢字 é 👍", "a\u00a0b\u3000c"):
        assert visible(text) == printable(text) == text
    assert printable("a\nb\tc") == "a\nb    c"
    assert printable("\x1b[1;31mred\x1b[0m\x1b[8mhidden", styled=True) == (
        "\x1b[1;31mred\x1b[0m␛[8mhidden"
    )


def test_halves_of_pairs_do_not_make_json_that_others_refuse() -> None:
    assert json_text({"a\udcff": ["\ud800", "\U0001f600"]}, indent=None) == (
        '{"a\\ufffd": ["\\ufffd", "\\ud83d\\ude00"]}'
    )


def _piped(*arguments: str, cwd: Path) -> bytes:
    done = subprocess.run(
        [sys.executable, "-m", "tclint", *arguments], cwd=cwd, capture_output=True, check=False
    )
    return done.stdout


def _at_a_terminal(commands: tuple[list[str], ...], cwd: Path) -> str:
    """What people see of some commands, one after the other."""
    import pty

    ours, theirs = pty.openpty()
    coded = [[os.fsencode(argument).hex() for argument in one] for one in commands]
    environment = {k: v for k, v in os.environ.items() if k not in {"NO_COLOR", "CI"}}
    environment |= {"TERM": "xterm", "COLUMNS": "160", "TCLINT_NO_CACHE": ""}
    process = subprocess.Popen(
        [sys.executable, "-c", AT_A_TERMINAL, json.dumps(coded)],
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        env=environment,
    )
    os.close(theirs)
    seen = bytearray()
    while True:
        try:
            data = os.read(ours, 65536)
        except OSError:  # how Linux says that nobody is at the other end
            break
        if not data:
            break
        seen += data
    os.close(ours)
    process.wait()
    return seen.decode("utf-8").replace("\r\n", "\n")

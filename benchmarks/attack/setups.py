"""Malicious working directories, configurations, git settings, file names and contents.

Each set-up is a repository that somebody sent: it is checked, asked for its changes, fixed and
reviewed. Promised: nothing of it is run, whatever its settings say; nothing outside is written or
printed; a run ends in time and memory, without a traceback and without a byte that a terminal
obeys; and one bad file, name or setting costs an error of one line while the rest of the run goes
on. Failures are the canary (what the hostile commands would make), other contents outside, findings
that are missing in the good file, and what no run may show.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.attack.command import clean_environment, complaints, ran, shown
from benchmarks.attack.kind import Kind, Slice, Tried

PROGRAM = """\
import torch


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        print("x")
        return torch.zeros(3).to(x.device) + x * x.sum().item()
"""
ESC = "\x1b]0;owned\x07\x1b[2J\u202e\x9b31m"
CHECK = ("check", "--no-cache")
CHANGED = ("check", "--no-cache", "--diff-only", "HEAD")
SINCE = ("check", "--no-cache", "--diff-only", "HEAD~1")
DIFF = ("fix", "--diff")
REVIEW = ("review", "--dry-run", "--base", "HEAD~1")
FIX = ("fix",)
GIT = (CHANGED, SINCE, REVIEW, CHECK, FIX)
ALL = (CHECK, CHANGED, REVIEW, DIFF, FIX)
FORMATS = (
    "full", "concise", "json", "sarif", "github", "gitlab", "junit",
)  # fmt: skip
PRINTED = (
    *(("check", "--no-cache", "--output-format", name) for name in FORMATS),
    ("check", "--no-cache", "--show-files"),
    ("check", "--no-cache", "--explain-types", "net.py:6"),
    *ALL,
)


@dataclass(frozen=True, slots=True)
class Place:
    """A repository under attack, a folder beside it, and a command that leaves a trace there."""

    project: Path
    outside: Path

    @property
    def canary(self) -> Path:
        """What exists when the repository had something run."""
        return self.outside.with_name("canary")

    @property
    def command(self) -> Path:
        """A program that makes the canary, whatever its arguments."""
        return self.outside / "evil"

    def git(self, *arguments: str, folder: Path | None = None) -> str:
        """Run git as the attacker does at home."""
        done = subprocess.run(
            ["git", "-c", "user.name=e", "-c", "user.email=e@example.org", *arguments],
            cwd=folder or self.project,
            env=clean_environment(),
            capture_output=True,
            check=True,
        )
        return done.stdout.decode().strip()

    def put(self, name: str | bytes, content: str | bytes) -> Path:
        """A file of the project."""
        path = self.project / os.fsdecode(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def setting(self, *lines: str) -> None:
        """Lines of the repository's own settings."""
        with (self.project / ".git" / "config").open("a") as stream:
            stream.write("\n".join(lines).replace("EVIL", str(self.command)) + "\n")


@dataclass(frozen=True, slots=True)
class Setup:
    """One hostile set-up.

    ``goes_on`` says that every check finds what is wrong in the good file ``net.py``; where it
    is None only plain checks do, since Git has nothing to tell about such a repository. With
    ``terminal`` the output goes to one: what pipes are given is for programs, byte for byte.
    """

    name: str
    build: Callable[[Place], object]
    commands: Sequence[Sequence[str]] = ALL
    goes_on: bool | None = True
    terminal: bool = False


def tried(part: Slice) -> Iterator[Tried]:
    """Build set-ups, and run every command in them; the seed plays no part."""
    for number in part.numbers:
        setup = SETUPS[number % len(SETUPS)]
        folder = part.folder / str(number)
        bad = [*endured(setup, folder)]
        yield Tried(number, setup.name, "\n".join(bad) or None)
        if not bad:
            shutil.rmtree(folder, ignore_errors=True)


def endured(setup: Setup, folder: Path) -> Iterator[str]:
    """Build a set-up, run its commands, and say what went wrong."""
    place = made(folder)
    setup.build(place)
    before = contents(place.outside)
    for command in setup.commands:
        told = " ".join(command)
        scratch = folder / "scratch"
        environment = {"TMPDIR": str(scratch)}
        run = shown if setup.terminal else ran
        done = run(*command, folder=place.project, environment=environment)
        yield from (f"{told}: {complaint}" for complaint in complaints(done))
        if done.code is None:
            return  # the next command would take as long
        if finds(setup, command) and not (done.code in (1, 2) and b"net.py" in done.out):
            yield f"{told}: it did not go on: {done.printed[-700:]!r}"
        if place.canary.exists():
            yield f"{told}: it ran what the repository names"
            place.canary.unlink()
        left = [path.name for path in scratch.iterdir()]
        if left:
            yield f"{told}: it left {left}"
            shutil.rmtree(scratch)
            scratch.mkdir()
    if contents(place.outside) != before:
        yield "it changed what lies outside"


def finds(setup: Setup, command: Sequence[str]) -> bool:
    """Whether a command must find what is wrong in the good file."""
    if command[0] != "check" or {"--explain-types", "--show-files"} & {*command}:
        return False
    return setup.goes_on or (setup.goes_on is None and command not in (CHANGED, SINCE))


def made(folder: Path) -> Place:
    """A repository with two commits and an uncommitted change in ``net.py``."""
    place = Place(folder / "project", folder / "outside")
    for path in (place.project, place.outside, folder / "scratch"):
        path.mkdir(parents=True)
    place.command.write_text(f"#!/bin/sh\necho run >> {place.canary}\ncat 2>/dev/null\n")
    place.command.chmod(0o755)
    (place.outside / "secret.py").write_text(PROGRAM)
    (place.outside / "empty").write_text("")
    place.git("init", "-q", "-b", "main")
    place.put("tclint.toml", "")
    place.put("old.py", "x = 1\n")
    place.git("add", "-A")
    place.git("commit", "-q", "-m", "one")
    place.put("net.py", "import torch\n")
    place.put("old.py", "x = 2\n")
    place.git("add", "-A")
    place.git("commit", "-q", "-m", "two")
    place.put("net.py", PROGRAM)
    return place


def contents(folder: Path) -> dict[str, bytes]:
    """All files below a folder."""
    return {str(p): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


# Git settings: whatever makes git start a program, or hang, or lie.


def settings(*lines: str, attributes: str = "") -> Callable[[Place], None]:
    """Lines of ``.git/config``, and attributes that make them count."""

    def build(place: Place) -> None:
        place.setting(*lines)
        if attributes:
            place.put(".gitattributes", attributes)
            (place.project / ".git" / "info").mkdir(exist_ok=True)
            (place.project / ".git" / "info" / "attributes").write_text(attributes)

    return build


def hooks(place: Place) -> None:
    """Every hook there is."""
    names = (
        "fsmonitor-watchman", "post-index-change", "reference-transaction", "post-checkout",
        "pre-auto-gc", "post-rewrite", "pre-commit", "proc-receive", "query-watchman",
    )  # fmt: skip
    for name in names:
        hook = place.project / ".git" / "hooks" / name
        hook.unlink(missing_ok=True)
        shutil.copy(place.command, hook)


def hooks_elsewhere(place: Place) -> None:
    """Hooks in a folder that is named."""
    folder = place.outside / "hooks"
    folder.mkdir()
    for name in ("post-index-change", "fsmonitor-watchman", "reference-transaction"):
        shutil.copy(place.command, folder / name)
    place.setting("[core]", f"hooksPath = {folder}", "fsmonitor = true")


def lazy_fetch(*lines: str) -> Callable[[Place], None]:
    """A partial clone: git asks its remote for what is missing, by a program that is named."""

    def build(place: Place) -> None:
        place.setting(
            "[core]", "repositoryformatversion = 1", "[extensions]", "partialClone = origin",
            '[remote "origin"]', "promisor = true", "partialclonefilter = blob:none", *lines,
        )  # fmt: skip
        place.git("add", "net.py")  # an object that can be found, beside some that cannot
        for name in ("HEAD:net.py", "HEAD:old.py", "HEAD~1:old.py"):
            blob = place.git("rev-parse", name)
            loose = place.project / ".git" / "objects" / blob[:2] / blob[2:]
            loose.unlink()

    return build


def submodule(*lines: str, ours: Sequence[str] = ()) -> Callable[[Place], None]:
    """A repository inside of the repository, with settings of its own."""

    def build(place: Place) -> None:
        inner = place.project / "sub"
        inner.mkdir()
        place.git("init", "-q", folder=inner)
        (inner / "inner.py").write_text("x = 1\n")
        place.git("add", "-A", folder=inner)
        for message in ("one", "two"):
            place.git("commit", "-q", "--allow-empty", "-m", message, folder=inner)
        place.git("add", "sub")
        place.git("commit", "-q", "-m", "three", "--", "sub")
        (inner / "inner.py").write_text(PROGRAM)
        with (inner / ".git" / "config").open("a") as stream:
            stream.write("\n".join(lines).replace("EVIL", str(place.command)) + "\n")
        place.setting(*ours)

    return build


def included(place: Place) -> None:
    """Settings of a file of the repository."""
    place.put("innocent", f"[core]\nfsmonitor = {place.command}\n")
    place.setting("[include]", "path = ../innocent")


def elsewhere(place: Place) -> None:
    """A ``.git`` that is a file and leads to a repository below, with its settings."""
    place.setting("[core]", "fsmonitor = EVIL")
    (place.project / ".git").rename(place.project / "data")
    place.put(".git", "gitdir: data\n")


def no_head(place: Place) -> None:
    """A branch that leads nowhere."""
    (place.project / ".git" / "HEAD").write_text("ref: refs/heads/\x1b[2J/../../x\n")


def spoilt(name: str, data: bytes) -> Callable[[Place], None]:
    """A file of git's own that holds something else."""
    return lambda place: (place.project / ".git" / name).write_bytes(data)


def fifo(name: str) -> Callable[[Place], None]:
    """A pipe where a file is expected."""

    def build(place: Place) -> None:
        path = place.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        os.mkfifo(path)

    return build


def named_fifo(section: str, key: str) -> Callable[[Place], None]:
    """A setting that names a pipe."""

    def build(place: Place) -> None:
        os.mkfifo(place.outside / "pipe")
        place.setting(f"[{section}]", f"{key} = {place.outside / 'pipe'}")

    return build


def link(name: str, target: str) -> Callable[[Place], None]:
    """A link; ``OUTSIDE`` in the target is the folder beside the project."""

    def build(place: Place) -> None:
        path = place.project / name
        path.unlink(missing_ok=True)
        path.symlink_to(target.replace("OUTSIDE", str(place.outside)))

    return build


# Files: names and contents.


def file(name: str | bytes, content: str | bytes = PROGRAM) -> Callable[[Place], object]:
    """A file of the repository, committed where git takes it."""

    def build(place: Place) -> None:
        place.put(name, content)
        place.git("add", "-A", "--", ".", ":!net.py")
        place.git("commit", "-q", "-m", "three")

    return build


def files(*pairs: tuple[str, str | bytes]) -> Callable[[Place], object]:
    """Several files of the repository."""

    def build(place: Place) -> None:
        for name, content in pairs:
            place.put(name, content)

    return build


def escapes(place: Place) -> None:
    """What a terminal obeys, in code, comments, strings and names that findings show."""
    body = PROGRAM.replace('print("x")', f'print("{ESC}")  # {ESC}')
    place.put("shown.py", body.replace("x.sum().item()", f'x.sum().item()  # "{ESC}'))
    place.put(f"{ESC}.py".replace("/", ""), PROGRAM)


def sparse(name: str) -> Callable[[Place], None]:
    """A file of 256 GiB that takes no room."""

    def build(place: Place) -> None:
        place.put(name, "")
        os.truncate(place.project / name, 1 << 38)

    return build


def deep_folders(place: Place) -> None:
    """Folders inside of folders, past the longest path that the system takes at once."""
    here = os.open(place.project, os.O_RDONLY)
    for _ in range(60):
        os.mkdir("d" * 100, dir_fd=here)
        inner = os.open("d" * 100, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    with os.fdopen(os.open("deep.py", os.O_CREAT | os.O_WRONLY, dir_fd=here), "w") as stream:
        stream.write(PROGRAM)
    os.close(here)


def shadowing(place: Place) -> None:
    """Modules of the project that have the names of those that tclint imports."""
    names = (
        "json", "typing", "ast", "re", "os", "random", "libcst", "typer", "click", "tomllib",
        "tclint_rules", "torch", "sitecustomize", "usercustomize", "encodings", "multiprocessing",
    )  # fmt: skip
    trap = f"open({str(place.canary)!r}, 'w').close()\n"
    for name in names:
        place.put(f"{name}.py", trap)
    for number in range(80):  # enough for several processes
        place.put(f"many/m{number}.py", PROGRAM)


def installed_by_the_project(place: Place) -> None:
    """A virtual environment in the repository, with packages that run something when loaded."""
    trap = f"open({str(place.canary)!r}, 'w').close()\n"
    site = ".venv/lib/python3.11/site-packages"
    place.put(f"{site}/evil.pth", f"import os; {trap}")
    place.put(f"{site}/evil/__init__.py", trap)
    entry = "[tclint.rules]\nevil = evil:RULES\n"
    place.put(f"{site}/evil-1.0.dist-info/entry_points.txt", entry)
    place.put(f"{site}/evil-1.0.dist-info/METADATA", "Name: evil\nVersion: 1.0\n")
    place.put(".venv/bin/python", f"#!/bin/sh\ntouch {place.canary}\n").chmod(0o755)
    place.put(".venv/pyvenv.cfg", "home = /usr\n")
    place.put("setup.py", trap)
    place.put("conftest.py", trap)


LONG = "x = " + "(" * 5_000 + "1" + ")" * 5_000 + "\n"
CHAIN = "def f(x):\n    return x" + ".a" * 20_000 + "\n"
SUM = "x = " + " + ".join(["1"] * 20_000) + "\n"
BLOCKS = "".join("    " * depth + "if x:\n" for depth in range(95)) + "    " * 95 + "pass\n"
WIDE = "import torch\n@torch.compile\ndef f(x):\n" + "    x = x + x.sum().item()\n" * 3_000
BRANCHES = "import torch\n@torch.compile\ndef f(x):\n    y = x\n" + (
    "    if x.sum() > 0:\n        y = (y, x)\n    else:\n        y = [y]\n" * 60
    + "    return y.item()\n"
)
CALLS = "import torch\n" + "".join(
    f"def f{n}(x):\n    return f{n + 1}(x) + f{n + 1}(x.t())\n" for n in range(60)
) + "def f60(x):\n    return x.item()\ntorch.compile(f0)\n"  # fmt: skip
DEEP = "**/a/" * 30 + "**/b"
COMMENTS = "# tclint: ignore[" + "TCL101, " * 50_000 + "\n" + PROGRAM
NOTEBOOK = {
    "cells": [{"cell_type": "code", "source": PROGRAM, "metadata": {}, "outputs": []}],
    "metadata": {},
    "nbformat": 4,
    "nbformat_minor": 5,
}
TOML = "[tool.tclint]\n"
DRIVER = "*.py diff=evil filter=evil merge=evil working-tree-encoding=UTF-16 text eol=crlf\n"

SETUPS = (
    Setup("git: fsmonitor", settings("[core]", "fsmonitor = EVIL"), GIT),
    Setup("git: hooks", hooks, GIT),
    Setup("git: hooks elsewhere", hooks_elsewhere, GIT),
    Setup("git: external diff", settings("[diff]", "external = EVIL"), GIT),
    Setup(
        "git: driver's command",
        settings('[diff "evil"]', "command = EVIL", attributes="*.py diff=evil\n"),
        GIT,
    ),
    Setup(
        "git: textconv",
        settings(
            '[diff "evil"]',
            "textconv = EVIL",
            "cachetextconv = true",
            attributes="*.py diff=evil\n",
        ),
        GIT,
    ),
    Setup(
        "git: filters",
        settings(
            '[filter "evil"]', "clean = EVIL", "smudge = EVIL", attributes="*.py filter=evil\n"
        ),
        GIT,
    ),
    Setup(
        "git: filter process",
        settings(
            '[filter "evil"]', "process = EVIL", "required = true", attributes="*.py filter=evil\n"
        ),
        GIT,
        None,
    ),
    Setup("git: every attribute", settings(attributes=DRIVER), GIT, None),
    Setup("git: pagers", settings("[core]", "pager = EVIL", "[pager]", "diff = EVIL"), GIT),
    Setup("git: ssh", settings("[core]", "sshCommand = EVIL", "gitProxy = EVIL"), GIT),
    Setup(
        "git: askers",
        settings("[core]", "askPass = EVIL", "editor = EVIL", "[credential]", "helper = !EVIL"),
        GIT,
    ),
    Setup(
        "git: aliases",
        settings("[alias]", "diff = !EVIL", "rev-parse = !EVIL", "ls-files = !EVIL"),
        GIT,
    ),
    Setup(
        "git: signatures",
        settings("[gpg]", "program = EVIL", "[log]", "showSignature = true"),
        GIT,
    ),
    Setup(
        "git: lazy fetch from a folder",
        lazy_fetch("url = .", "uploadpack = EVIL"),
        GIT,
        None,
    ),
    Setup("git: lazy fetch by ext", lazy_fetch("url = ext::EVIL %S"), GIT, None),
    Setup(
        "git: lazy fetch by ssh",
        lazy_fetch("url = ssh://localhost/x", "[core]", "sshCommand = EVIL"),
        GIT,
        None,
    ),
    Setup("git: fsmonitor of a submodule", submodule("[core]", "fsmonitor = EVIL"), GIT),
    Setup(
        "git: diff of submodules",
        submodule(
            "[core]",
            "fsmonitor = EVIL",
            "[diff]",
            "external = EVIL",
            ours=("[diff]", "submodule = diff", "ignoreSubmodules = none"),
        ),
        GIT,
    ),
    Setup("git: included settings", included, GIT),
    Setup("git: data elsewhere", elsewhere, GIT),
    Setup("git: work tree outside", settings("[core]", "worktree = ../../outside"), GIT, None),
    Setup("git: order file is missing", settings("[diff]", "orderFile = /nowhere"), GIT),
    Setup("git: order file is a pipe", named_fifo("diff", "orderFile"), GIT),
    Setup("git: attributes are a pipe", named_fifo("core", "attributesFile"), GIT, None),
    Setup("git: excludes are a pipe", named_fifo("core", "excludesFile"), GIT, None),
    Setup("git: include is a pipe", named_fifo("include", "path"), GIT, None),
    Setup("git: ignores are a pipe", fifo(".gitignore"), GIT, None),
    Setup(
        "git: prefixes and colours",
        settings(
            "[diff]",
            "noprefix = true",
            "mnemonicPrefix = true",
            "relative = true",
            "interHunkContext = 99",
            "wsErrorHighlight = all",
            "colorMoved = zebra",
            "[color]",
            "ui = always",
            "diff = always",
            "[core]",
            "quotePath = false",
        ),
        GIT,
    ),
    Setup("git: settings are garbage", spoilt("config", b"[\x00\xff core\n= = ]\n" * 9), GIT, None),
    Setup("git: index is garbage", spoilt("index", b"DIRC\x00\x00\x00\x02\xff\xff"), GIT, None),
    Setup("git: no branch", no_head, GIT, None),
    Setup("git: a later format", settings("[core]", "repositoryformatversion = 99"), GIT, None),
    Setup("name: newlines", file("a\nb.py:1:1: TCL999 all is well\n.py"), PRINTED),
    Setup("name: not UTF-8", file(b"\xff\xfe.py"), PRINTED),
    Setup("name: options", file("--output-file=net.py"), (*PRINTED, ("check", "."))),
    Setup("name: workflow commands", file("a%0A::error::x,::set-env name=A::b.py"), PRINTED),
    Setup("name: markup", file("<script>alert(1)<!-- ]]> \"'&.py"), PRINTED),
    Setup("name: as long as can be", file("x" * 252 + ".py"), PRINTED),
    Setup("name and content: escapes", escapes, PRINTED, terminal=True),
    Setup("names: folders in folders", deep_folders, (CHECK, DIFF, FIX)),
    Setup("names: a link out of the project", link("link.py", "OUTSIDE/secret.py")),
    Setup("names: shadows of modules", shadowing),
    Setup("names: an environment that loads", installed_by_the_project),
    Setup("content: a pipe", fifo("pipe.py")),
    Setup("content: link to what never ends", link("zero.py", "/dev/zero")),
    Setup("content: link to itself", link("loop.py", "loop.py")),
    Setup("content: folder that links to its parent", link("up", "."), ALL),
    Setup("content: 256 GiB", sparse("huge.py")),
    Setup("content: parentheses", files(("long.py", LONG), ("sum.py", SUM), ("chain.py", CHAIN))),
    Setup("content: blocks in blocks", files(("blocks.py", BLOCKS), ("branches.py", BRANCHES))),
    Setup("content: calls that double", files(("calls.py", CALLS))),
    Setup("content: very many findings", files(("wide.py", WIDE)), (CHECK, CHANGED)),
    Setup("content: comments without end", files(("comments.py", COMMENTS))),
    Setup("content: zero bytes", files(("zero.py", b"\0" * 1_000_000), ("bom.py", b"\xff\xfe"))),
    Setup(
        "content: notebooks",
        files(
            ("deep.ipynb", "[" * 100_000),
            ("number.ipynb", json.dumps(NOTEBOOK).replace("5}", "9" * 5_000 + "}")),
            ("wrong.ipynb", json.dumps({**NOTEBOOK, "cells": {"a": [None]}})),
            ("source.ipynb", json.dumps(NOTEBOOK).replace('"metadata": {}', '"source": [1]')),
        ),
    ),
    Setup("configuration: a pipe", fifo("tclint.toml"), goes_on=False),
    Setup("configuration: endless", link("tclint.toml", "/dev/zero"), goes_on=False),
    Setup("configuration: huge", sparse("tclint.toml"), goes_on=False),
    Setup("configuration: a folder", files(("pyproject.toml/x", "")), goes_on=None),
    Setup("configuration: garbage", files(("tclint.toml", b"\xff = [[[\x1b[2J")), goes_on=False),
    Setup(
        "configuration: nested",
        files(("tclint.toml", "select = " + "[" * 50_000)),
        goes_on=False,
    ),
    Setup(
        "configuration: escapes",
        files(("tclint.toml", 'select = ["\\u001b[2J", "\\u009b31m"]\n"\\u001b]0;x" = 1\n')),
        goes_on=False,
    ),
    Setup(
        "configuration: slow patterns",
        files(
            ("tclint.toml", f"exclude = {json.dumps(['*a' * 40 + '*b', DEEP])}\n"),
            ("a" * 200 + ".py", PROGRAM),
            ("a/" * 100 + "c.py", PROGRAM),
        ),
    ),
    Setup(
        "configuration: outside",
        files(("tclint.toml", 'cache-dir = "../outside"\nbaseline = "../outside/empty"\n')),
        goes_on=False,
    ),
    Setup(
        "configuration: extends",
        files(("tclint.toml", 'extend = "tclint.toml"\n')),
        goes_on=False,
    ),
    Setup(
        "configuration: slow ignores",
        files(
            (".gitignore", "*a" * 60 + f"b\n{DEEP}\n"),
            ("a" * 200 + ".py", PROGRAM),
            ("a/" * 100 + "c.py", PROGRAM),
        ),
    ),
    Setup(
        "metadata: garbage",
        files(
            ("requirements.txt", "torch" + ">=1," * 50_000 + "\n-r requirements.txt\n-r /dev/zero"),
            ("poetry.lock", "[[package]]\n" * 50_000),
            ("uv.lock", "[" * 50_000),
            ("setup.cfg", "[options]\ninstall_requires = " + "torch\n " * 50_000),
            ("environment.yml", "a: &a [x]\n" + "".join(f"b{n}: [*a,*a]\n" for n in range(9_999))),
            ("pyproject.toml", "[project]\ndependencies = [" + '"torch>=2",' * 50_000 + "]\n"),
        ),
    ),
    Setup("metadata: pipes", fifo("requirements.txt")),
    Setup("metadata: endless", link("poetry.lock", "/dev/zero")),
    Setup("metadata: outside", link("requirements.txt", "OUTSIDE/empty")),
)
KIND = Kind("setups", len(SETUPS), 3, tried)

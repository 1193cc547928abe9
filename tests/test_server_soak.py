"""Random edits, one after the other: what the server says is what a run over the file says."""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from lsprotocol import types

from tclint.config import Config, load_config
from tclint.fix.reduce import common
from tclint.lint import project_files
from tclint.lint.engine import Run, check_files
from tclint.server.programs import Programs
from tclint.source.discovery import discover
from tclint.source.file import split_lines
from tests.server_process import opened, play, reported

if TYPE_CHECKING:
    from pytest_lsp import LanguageClient

    from tclint.diagnostics import Diagnostic

FIXTURES = Path(__file__).parents[1] / "fixtures" / "programs"
SEEDS = (
    pytest.param(0, 300, marks=pytest.mark.slow),
    *(pytest.param(seed, 1000, marks=pytest.mark.exhaustive) for seed in range(10)),
)
"""Where random edits begin, and how many there are."""
SNIPPETS = (
    "print(x)",
    "y = x.sum().item()",
    "if x.sum() > 0:\n        pass",
    "    ",
    "\n",
    "#",
    '"""',
    "\\",
    ";",
    "ä😋",
    "@torch.compile",
    "def g(x):\n    return x.item()\n",
    "import torch\n",
    "return x.tolist()",
    "# tclint: ignore[TCL101]",
    "else:",
    "\t",
    "(",
    ")",
    "\f",
    "\r",
)


def edited(text: str, chance: random.Random, original: str) -> str:
    """One keystroke, or one of the larger things that an editor does."""
    start = chance.randrange(len(text) + 1)
    match chance.randrange(8):
        case 0 | 1:
            return text[:start] + chance.choice(SNIPPETS) + text[start:]
        case 2:
            return text[:start] + chance.choice("abx=.()[]:# \n") + text[start:]
        case 3:
            return text[:start] + text[start + chance.randrange(1, 12) :]
        case 4 | 5:
            lines = text.splitlines(keepends=True) or ["\n"]
            row = chance.randrange(len(lines))
            indent = lines[row][: len(lines[row]) - len(lines[row].lstrip())]
            lines.insert(row, f"{indent}{chance.choice(SNIPPETS)}\n")
            return "".join(lines)
        case 6:
            lines = text.splitlines(keepends=True) or ["\n"]
            del lines[chance.randrange(len(lines))]
            return "".join(lines)
    return original


def told(run: Run) -> tuple[list[object], list[object]]:
    """All that a run says, in plain data."""
    found = [
        (result.diagnostic, result.repair.message if result.repair else None)
        for result in run.results
    ]
    return [*found], [*run.errors]


def soak(folder: Path, edits: int, seed: int) -> None:
    chance = random.Random(seed)
    files = [*folder.glob("*.py")]
    texts = {path: path.read_text("utf-8") for path in files}
    originals = dict(texts)
    programs, config = Programs(), load_config(folder)
    good = 0
    for _ in range(edits):
        path = chance.choice(files)
        texts[path] = edited(texts[path], chance, originals[path])
        paths = programs.enter(config, folder).checked(path, files, texts)
        kept = programs.of(config).check(paths, config, dict(texts))
        fresh = check_files(sorted(files), config, dict(texts))
        assert told(kept) == told(fresh), texts[path]
        good += not fresh.errors
        if len(fresh.errors) == len(files):
            texts = dict(originals)
    assert good > edits / 20, "almost all texts were broken"


@pytest.mark.parametrize(
    "names",
    [("conv_net.py",), ("vision_transformer.py",), ("weighted_loss.py", "distillation.py")],
    ids=" ".join,
)
def test_what_is_kept_between_edits_makes_no_difference(
    tmp_path: Path, names: tuple[str, ...]
) -> None:
    for name in names:
        (tmp_path / name).write_text((FIXTURES / name).read_text("utf-8"), "utf-8")
    soak(tmp_path, 60, seed=len(names))


@pytest.mark.parametrize(("seed", "edits"), SEEDS)
def test_many_random_edits(tmp_path: Path, seed: int, edits: int) -> None:
    for name in ("conv_net.py", "deep_stack.py"):
        (tmp_path / name).write_text((FIXTURES / name).read_text("utf-8"), "utf-8")
    soak(tmp_path, edits, seed)


def test_a_small_folder_is_checked_whole_and_a_large_one_is_not(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("def read(x):\n    return x.sum().item()\n")
    (tmp_path / "net.py").write_text("import helper\n")
    programs, config = Programs(), Config(root=tmp_path)
    net = tmp_path / "net.py"
    assert programs.enter(config, tmp_path).checked(net, [net], {}) == (
        tmp_path / "helper.py",
        net,
    )
    (tmp_path / "table.py").write_text(f"WORDS = {'x' * 300_000!r}\n")
    programs.forget()
    assert programs.enter(config, tmp_path).checked(net, [net], {net: "import helper\n"}) == (net,)


def test_in_a_large_folder_open_files_that_import_each_other_belong_together(
    tmp_path: Path,
) -> None:
    names = ("helper", "net", "other", "table")
    helper, net, other, table = (tmp_path / f"{name}.py" for name in names)
    table.write_text(f"WORDS = {'x' * 300_000!r}\n")
    texts = {helper: "def f(x):\n    return x\n", net: "from helper import f\n", other: "x = 1\n"}
    program = Programs().enter(Config(root=tmp_path), tmp_path)
    opened = [helper, net, other]
    assert program.checked(helper, opened, texts) == (helper, net)
    assert program.checked(net, opened, texts) == (helper, net)
    assert program.checked(other, opened, texts) == (other,)
    texts[net] = "x = 1\n"
    assert program.checked(helper, opened, texts) == (helper,)


def through_the_server(folder: Path, edits: int, seed: int) -> None:
    """Edits as partial changes to a server process; its reports beside those of a run."""
    chance = random.Random(seed)
    path = folder / "conv_net.py"
    original = text = path.read_text("utf-8")
    config = load_config(folder)

    async def scene(client: LanguageClient) -> None:
        nonlocal text
        client.text_document_did_open(opened(path.as_uri(), text))
        await reported(client)
        for version in range(2, edits + 2):
            after = edited(text, chance, original)
            client.text_document_did_change(
                types.DidChangeTextDocumentParams(
                    types.VersionedTextDocumentIdentifier(version, path.as_uri()),
                    [partial_change(text, after)],
                )
            )
            text = after
            found = await reported(client)
            run = check_files([path], config, {path: text})
            wanted = sorted((r.diagnostic.code, shown(r.diagnostic)) for r in run.results)
            said = sorted((str(d.code), d.message) for d in found)
            # A text that cannot be read keeps findings of the last one that could.
            same = said[: len(wanted)] if run.errors else said
            assert same == wanted, text

    (folder / "tclint.toml").touch()
    play(folder, scene=scene, patience=3600)


def shown(diagnostic: Diagnostic) -> str:
    """What an editor shows of a finding: the headline, and below it what to do instead."""
    instead = f"\nInstead: {diagnostic.instead}" if diagnostic.instead else ""
    return diagnostic.message + instead


def partial_change(before: str, after: str) -> types.TextDocumentContentChangePartial:
    """What an editor sends: the stretch that differs, in UTF-16."""
    old, new = split_lines(before), split_lines(after)
    head = common(old, new)
    tail = common(old[head:][::-1], new[head:][::-1])
    start, end = types.Position(head, 0), types.Position(len(old) - tail, 0)
    text = "".join(new[head : len(new) - tail])
    return types.TextDocumentContentChangePartial(types.Range(start, end), text)


@pytest.mark.slow
def test_the_server_says_what_a_run_says(tmp_path: Path) -> None:
    shutil.copy(FIXTURES / "conv_net.py", tmp_path)
    through_the_server(tmp_path, 100, seed=0)


@pytest.mark.parametrize(("seed", "edits"), SEEDS)
def test_the_server_says_what_a_run_says_many_times(tmp_path: Path, seed: int, edits: int) -> None:
    shutil.copy(FIXTURES / "conv_net.py", tmp_path)
    through_the_server(tmp_path, edits, seed + 1)


def test_a_vast_folder_is_not_looked_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".venv").mkdir()
    for number in range(30):
        (tmp_path / ".venv" / f"m{number}.py").touch()
    (tmp_path / "net.py").write_text("x = 1\n")
    monkeypatch.setattr(project_files, "MOST", 20)
    config = Config(root=tmp_path)
    assert not discover([tmp_path], config, project_files.MOST).is_cut
    (tmp_path / "deep").mkdir()
    for number in range(30):
        (tmp_path / "deep" / f"m{number}.py").touch()
    assert discover([tmp_path], config, project_files.MOST).is_cut
    assert not Programs().enter(config, tmp_path).is_whole

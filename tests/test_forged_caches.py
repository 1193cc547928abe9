"""What lies in the cache and nobody wrote there who runs tclint: links, pipes, made-up findings."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any, Final

import pytest

from tclint.cache import report_cache
from tclint.cache.envelope import packed, unpacked
from tclint.cache.store import Cache
from tclint.config import Config
from tclint.lint.engine import Execution, Run, check_files
from tclint.lint.registry import known_rules
from tclint.report.formats import OutputFormat, render
from tclint.report.view import View
from tests.cli_runs import BREAKS, tclint
from tests.test_lint_cache import MANY

ENDLESS: Final = Path("/dev/zero")
needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
PLANTED: Final[dict[str, Callable[[Path], None]]] = {
    "a link to an endless device": lambda file: file.symlink_to(ENDLESS),
    "a pipe": lambda file: os.mkfifo(file, 0o600),
    "a link to itself": lambda file: file.symlink_to(file),
    "a link to nowhere": lambda file: file.symlink_to(file.parent / "nowhere"),
    "a folder": lambda file: file.mkdir(),
    "a file without end": lambda file: os.truncate(_made(file), 2**40),
}


def _made(file: Path) -> Path:
    file.touch()
    return file


def checked(folder: Path, cache: Path) -> Run:
    files = sorted(folder.rglob("*.py"))
    return check_files(files, Config(folder), None, Execution(1, Cache(cache)))


def shown(run: Run, folder: Path, kinds: Iterable[OutputFormat] = OutputFormat) -> list[str]:
    view = View(folder, rules=known_rules())
    return [render(kind, run, view) for kind in kinds]


def written(folder: Path) -> None:
    for name, text in MANY.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


@needs_pipes
@pytest.mark.parametrize("plant", PLANTED.values(), ids=PLANTED)
@pytest.mark.filterwarnings("ignore:tclint. cannot write the cache:RuntimeWarning")
def test_whatever_lies_where_a_run_was_remembered_is_as_good_as_none(
    tmp_path: Path, plant: Callable[[Path], None]
) -> None:
    written(tmp_path)
    cache = tmp_path / "cache"
    expected = shown(checked(tmp_path, cache), tmp_path)
    [file] = cache.glob("*.run")
    file.unlink()
    plant(file)
    assert shown(checked(tmp_path, cache), tmp_path) == expected
    assert shown(checked(tmp_path, cache), tmp_path) == expected


@needs_pipes
@pytest.mark.parametrize("plant", PLANTED.values(), ids=PLANTED)
def test_whatever_lies_where_a_report_was_remembered_is_as_good_as_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plant: Callable[[Path], None]
) -> None:
    (tmp_path / "a.py").write_text(BREAKS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    cache = tmp_path / ".tclint_cache"
    cache.mkdir()
    plant(cache / report_cache.question(["check", "."]))
    assert report_cache.replayed(["check", "."]) is None


@needs_pipes
@pytest.mark.parametrize("note", ["CACHEDIR.TAG", ".gitignore"])
def test_nothing_is_written_through_a_link_in_the_cache(tmp_path: Path, note: str) -> None:
    (tmp_path / "a.py").write_text(BREAKS, encoding="utf-8")
    cache, outside = tmp_path / "cache", tmp_path / "outside"
    checked(tmp_path, cache)
    (cache / note).unlink()
    (cache / note).symlink_to(outside)
    (tmp_path / "a.py").write_text(BREAKS * 2, encoding="utf-8")
    if note == ".gitignore":
        checked(tmp_path, cache)
    else:
        with pytest.warns(RuntimeWarning, match="it holds other files"):
            checked(tmp_path, cache)
    assert not outside.exists()


VALUES: Final = (
    None, "", "x", "\x1b[31m\0", "\ud800", -1, 0, 10**12, 10**400, 1.5, True, False, [], {}, [[]],
    [None] * 4, [1, 1, 1, 1], [-5, 0, -5, 0], ["Call", 1, 0, 1, 5], {"x": None},
)  # fmt: skip


def places(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to each part of the data; of lists of one kind of thing, to the first and last."""
    yield above
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*above, key))
    elif isinstance(value, list):
        wide = len(value) > 7 and len({type(item) for item in value}) == 1
        for number in (0, len(value) - 1) if wide else range(len(value)):
            yield from places(value[number], (*above, number))


def forged(memory: Any, place: tuple[Any, ...], value: Any) -> Any:
    changed = deepcopy(memory)
    inner = changed
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = value
    return changed


def forgeries(memory: Any, each: int) -> Iterator[Any]:
    """The memory with one part changed, ``each`` times for every part."""
    for number, place in enumerate(places(memory)):
        if place:
            for turn in range(each):
                yield forged(memory, place, VALUES[(number * each + turn) % len(VALUES)])


@pytest.mark.slow
def test_a_made_up_cache_with_a_right_checksum_makes_nothing_stumble(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tclint.cache.freshness.SETTLED", -(10**12))
    for name in ("fixable.py", "broken.py"):
        (tmp_path / name).write_text(MANY[f"pkg/{name}"], encoding="utf-8")
    cache = tmp_path / "cache"
    checked(tmp_path, cache)
    [file] = cache.glob("*.run")
    memory = unpacked(file.read_bytes())
    tried = 0
    for wrong in forgeries(memory, int(os.environ.get("TCLINT_FORGERIES", "1"))):
        file.write_bytes(packed(wrong))
        shown(checked(tmp_path, cache), tmp_path, (OutputFormat.FULL, OutputFormat.JSON))
        tried += 1
    assert tried > 200


def test_a_made_up_report_makes_nothing_stumble(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["tclint", "check", "."])
    cache = tmp_path / ".tclint_cache"
    cache.mkdir()
    report = {
        "stamps": [["a.py", None]],
        "there": [["b.py", False]],
        "lists": [[str(tmp_path), []]],
        "entries": [[str(tmp_path), [".tclint_cache/"]]],
        "code": 1,
        "text": "found\n",
        "aside": "beside it",
    }
    question = report_cache.question(["check", "."])
    (cache / question).write_bytes(packed(report))
    assert report_cache.replayed(["check", "."]) == 1
    assert capfd.readouterr() == ("found\n", "beside it\n")
    for place in places(report):
        for value in VALUES if place else ():
            (cache / question).write_bytes(packed(forged(report, place, value)))
            assert report_cache.replayed(["check", "."]) in {None, 0, 1, 2}


def test_imports_that_unfold_without_end_are_not_unfolded(tmp_path: Path) -> None:
    import base64
    import zlib

    from tclint.lint.searches import unpacked as unfolded

    bomb = zlib.compress(b'{"a": "' + b" " * 2**27, 9)
    with pytest.raises(ValueError, match="Unterminated"):
        unfolded(base64.b64encode(bomb).decode())


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="gives files away")
def test_a_run_that_a_stranger_remembered_is_not_believed(tmp_path: Path) -> None:
    written(tmp_path)
    cache = tmp_path / "cache"
    expected = shown(checked(tmp_path, cache), tmp_path)
    [file] = cache.glob("*.run")
    identity, memory = unpacked(file.read_bytes())
    for shard in memory["shards"]:
        shard[1][0] = []
    file.write_bytes(packed([identity, memory]))
    assert "TCL101" not in "".join(shown(checked(tmp_path, cache), tmp_path))
    file.write_bytes(packed([identity, memory]))
    os.chown(file, 4321, 4321)
    assert shown(checked(tmp_path, cache), tmp_path) == expected


def test_thirty_two_runs_at_once_on_one_cache_agree(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(BREAKS, encoding="utf-8")
    cache = tmp_path / "cache"
    found: list[str] = []

    def work(number: int) -> None:
        run = check_files(
            [tmp_path / "a.py"], Config(tmp_path), None, Execution(1, Cache(cache, (str(number),)))
        )
        found.append(json.dumps(shown(run, tmp_path)))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 32
    assert len(set(found)) == 1
    assert len([*cache.glob("*.run")]) <= 17
    assert not [*cache.glob("*.part")]


def test_a_run_from_the_shell_shrugs_at_what_lies_in_the_cache(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(BREAKS, encoding="utf-8")
    first = tclint("check", "a.py", cwd=tmp_path)
    [file] = (tmp_path / ".tclint_cache").glob("*.run")
    file.unlink()
    file.symlink_to(ENDLESS)
    assert tclint("check", "a.py", cwd=tmp_path).stdout == first.stdout


def test_made_up_lines_around_a_finding_may_have_gaps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tclint.cache.freshness.SETTLED", -(10**12))
    (tmp_path / "fixable.py").write_text(MANY["pkg/fixable.py"], encoding="utf-8")
    cache = tmp_path / "cache"
    checked(tmp_path, cache)
    [file] = cache.glob("*.run")
    identity, memory = unpacked(file.read_bytes())
    [(_, outcome, _)] = memory["shards"]
    [lines] = outcome[5].values()
    for number in range(len(lines)):
        gap = deepcopy(memory)
        [wrong] = gap["shards"][0][1][5].values()
        wrong[number][0] = 0
        file.write_bytes(packed([identity, gap]))
        assert "TCL" in shown(checked(tmp_path, cache), tmp_path, (OutputFormat.FULL,))[0]

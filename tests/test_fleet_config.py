"""FLEET.toml: what may stand in it, and what is said of everything else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.fleet.config import FleetError, read_fleet
from tclint.fleet.targets import find_targets

TARGET = '[[target]]\nfactory = "m.py:make"\n'


def read(folder: Path, text: str) -> object:
    (folder / "FLEET.toml").write_text(text)
    return read_fleet(folder / "FLEET.toml")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "there is no [[target]]"),
        ("[fleet", "FLEET.toml: "),
        ("[flet]\n", "unknown key 'flet'; did you mean 'fleet'?"),
        ("[fleet]\njob = 2\n", "[fleet]: unknown key 'job'; did you mean 'jobs'?"),
        ("[fleet]\njobs = 0\n", "[fleet]: jobs: expected a whole number, at least 1, got 0"),
        ("[fleet]\njobs = true\n", "expected a whole number"),
        ("[fleet]\ntime-limit = 0\n", "time-limit: expected a number, at least 1, got 0"),
        ("[fleet]\ntime-limit = nan\n", "time-limit: expected a number"),
        ("[fleet]\nmemory-limit = inf\n", "memory-limit: expected a number"),
        ("[fleet]\nspeed = 1\n", "speed: expected true or false, got 1"),
        ("[fleet]\ndevice = 'gpu'\n", "device: 'gpu' is not one of cpu, cuda"),
        ("[fleet]\nmodes = ['defualt']\n", "did you mean 'default'?"),
        ("[fleet]\nmodes = []\n", "expected at least one mode"),
        ("[fleet]\nfiles = 'a'\n", "files: expected a list of strings, got 'a'"),
        ("fleet = 3\n", "[fleet]: expected a table"),
        ("[target]\nfactory = 'm.py:make'\n", "write [[target]], with two brackets"),
        ("[[target]]\nname = 'x'\n", "[[target]] 1: needs exactly one of factory, factories"),
        (f"{TARGET}registry = 'm:M'\n", "[[target]] 1: needs exactly one of"),
        (f"{TARGET}factry = 'x'\n", "[[target]] 1: unknown key 'factry'; did you mean 'factory'?"),
        (f"{TARGET}phase = 'back'\n", "phase: 'back' is not one of forward, backward, step"),
        (f"{TARGET}[[arm]]\nfixed = true\n", "[[arm]] 1: has no name"),
        (f"{TARGET}[[arm]]\nname = 'a'\n[[arm]]\nname = 'a'\n", "[[arm]]: two are called 'a'"),
        (f"{TARGET}[[arm]]\nname = 'a'\nunsafe-fixes = true\n", "unsafe-fixes needs fixed = true"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(FleetError) as caught:
        read(tmp_path, text)
    assert str(tmp_path / "FLEET.toml") in str(caught.value)
    assert said in str(caught.value)


def test_a_file_that_is_not_there_is_one_error(tmp_path: Path) -> None:
    with pytest.raises(FleetError, match=r"cannot read .*FLEET.toml"):
        read_fleet(tmp_path / "FLEET.toml")


def names(folder: Path, *sources: str) -> list[str]:
    text = "\n".join(f"[[target]]\n{source}" for source in sources)
    (folder / "FLEET.toml").write_text(text)
    return [target.name for target in find_targets(read_fleet(folder / "FLEET.toml"))]


def test_a_glob_finds_the_functions_that_need_no_argument(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models/a.py").write_text(
        "def make_a(): ...\ndef make_b(size=3, *, deep=1): ...\ndef make_c(size): ...\n"
        "def make_d(*, deep): ...\ndef make_e(*all, **more): ...\ndef other(): ...\n"
        "raise RuntimeError('nobody imports this')\n"
    )
    (tmp_path / "models/b.py").write_text("def make_a(): ...\n")
    assert names(tmp_path, 'factories = "models/*.py:make_*"') == [
        "models/a.py:make_a", "models/a.py:make_b", "models/a.py:make_e", "models/b.py:make_a",
    ]  # fmt: skip
    assert names(tmp_path, 'factories = "models/*.py:make_*"\nonly = ["models/b*"]') == [
        "models/b.py:make_a"
    ]
    assert names(tmp_path, 'factories = "models/*.py:make_*"\nwithout = ["a.py:*"]') == [
        "models/b.py:make_a"
    ]


@pytest.mark.parametrize(
    ("sources", "said"),
    [
        (['factories = "models/*.py:make_*"'], "[[target]] 1: there is no such target"),
        (['factories = "models"'], "is not a pattern: write models/*.py:make_*"),
        (['factory = "models"'], "'models' is not a target"),
        (['factory = "m.py:make"'] * 2, "two targets are called 'm.py:make'; give a name"),
        (['registry = "m.py"'], "'m.py' is not a target"),
    ],
)
def test_a_source_that_names_nothing_is_an_error(
    tmp_path: Path, sources: list[str], said: str
) -> None:
    with pytest.raises(FleetError) as caught:
        names(tmp_path, *sources)
    assert said in str(caught.value)


def test_catalogues_are_gone_and_their_successor_is_named(tmp_path: Path) -> None:
    with pytest.raises(FleetError, match="unknown key 'catalogue'; it was removed: `registry`"):
        names(tmp_path, 'catalogue = "transformers"')


@pytest.mark.parametrize("text", ["def make(:\n", "a = '\0'\n", "x = " + "(" * 5000])
def test_a_file_that_does_not_parse_is_one_target_that_cannot_run(
    tmp_path: Path, text: str
) -> None:
    (tmp_path / "bad.py").write_text(text)
    (tmp_path / "good.py").write_text("def make(): ...\n")
    (tmp_path / "FLEET.toml").write_text('[[target]]\nfactories = "*.py:make*"\n')
    bad, good = find_targets(read_fleet(tmp_path / "FLEET.toml"))
    assert (bad.name, good.name) == ("bad.py:make*", "good.py:make")
    assert bad.fault.startswith("cannot be parsed: ")
    assert not good.fault

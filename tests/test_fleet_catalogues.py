"""The catalogues that tclint brings: what they name exists, and listing them needs no torch."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from benchmarks import leaderboard
from tclint.catalogues import MODELS, OTHERS
from tclint.fleet import targets
from tclint.fleet.catalogue import GROUP, Catalogue
from tclint.fleet.config import read_fleet
from tclint.fleet.targets import find_targets
from tclint.toml_text import parse_toml
from tclint.verify.targets import parse_target

PICKED = (*MODELS, *OTHERS)


def plugins(repository: Path) -> dict[str, Catalogue]:
    """By the project's own list, which an older installation need not have."""
    data = parse_toml((repository / "pyproject.toml").read_text("utf-8"))
    found = {}
    for name, place in data["project"]["entry-points"][GROUP].items():
        module, _, attribute = place.partition(":")
        found[name] = getattr(import_module(module), attribute)
    return found


def test_each_plug_in_is_a_catalogue_whose_names_are_targets(repository: Path) -> None:
    found = plugins(repository)
    assert {name: catalogue.package for name, catalogue in found.items()} == {
        name: name for name in found
    }
    for catalogue in found.values():
        target = parse_target(catalogue.factories)
        factories = getattr(import_module(target.place), target.factory)
        assert catalogue.names
        assert list(factories) == list(catalogue.names)
        assert len(factories) == len(catalogue.names)
        for name in catalogue.names:
            item = parse_target(f"{catalogue.factories}[{name}]").item
            assert callable(factories[item])
        for wrong in ("bert", "bert/eval/train", "nothing/eval"):
            with pytest.raises(KeyError):
                factories[wrong]


def test_a_catalogue_is_narrowed_by_names_and_families(
    tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(targets, "load_catalogue", plugins(repository).__getitem__)

    def names(more: str) -> list[str]:
        file = tmp_path / "FLEET.toml"
        file.write_text(f'[[target]]\ncatalogue = "transformers"\n{more}\n')
        return [target.name for target in find_targets(read_fleet(file))]

    assert names('only = ["transformers/bert/*"]') == [
        "transformers/bert/eval", "transformers/bert/train",
    ]  # fmt: skip
    encoders = names('only = ["encoder"]\nwithout = ["*/train"]')
    assert "transformers/bert/eval" in encoders
    assert "transformers/gpt2/eval" not in encoders


def test_listing_them_imports_no_torch() -> None:
    code = "import sys; import tclint.catalogues.plugins; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_the_public_leaderboard_is_of_all_catalogues(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(targets, "load_catalogue", plugins(repository).__getitem__)
    fleet = read_fleet(repository / "benchmarks/leaderboard.toml")
    assert {source.catalogue for source in fleet.sources} == {*plugins(repository)}
    picked = {f"timm/{model.name}/eval" for model in PICKED if model.library == "timm"}
    found = {f"{name}/{one}" for name, all_ in plugins(repository).items() for one in all_.names}
    wanted = {name for name in found if name.endswith("/eval")} - picked
    assert {target.name for target in find_targets(fleet)} == wanted


def test_a_sample_of_the_leaderboard_is_a_part_of_a_larger_one(
    tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(targets, "load_catalogue", plugins(repository).__getitem__)
    text = (repository / "benchmarks/leaderboard.toml").read_text(encoding="utf-8")
    known = leaderboard.names()
    found = []
    for count in (10, 40, len(known)):
        file = tmp_path / f"{count}.toml"
        file.write_text(leaderboard.fleet_of(text, leaderboard.drawn(known, count)))
        found.append({target.name for target in find_targets(read_fleet(file))})
        assert len(found[-1]) == count
    assert found[0] < found[1] < found[2] == {*known}


def test_the_interval_of_a_share_is_wilsons() -> None:
    assert leaderboard._interval(8, 10) == "49% to 94%"
    assert leaderboard._interval(0, 10) == "0% to 28%"


def test_the_repair_catalogue_is_a_fleet(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(targets, "load_catalogue", plugins(repository).__getitem__)
    fleet = read_fleet(repository / "benchmarks/repair.toml")
    assert [(arm.fixed, arm.unsafe_fixes) for arm in fleet.arms] == [
        (False, False), (True, False), (True, True),
    ]  # fmt: skip
    assert len(find_targets(fleet)) == 2 * sum(one.library == "transformers" for one in MODELS)

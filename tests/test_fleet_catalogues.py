"""The catalogues that tclint brings: what they name exists, and listing them needs no torch."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

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

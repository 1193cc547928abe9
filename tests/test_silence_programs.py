"""Small programs that break the graph, each reported, and their like that do not: Dynamo agrees."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tclint.config import Config
from tclint.diagnostics import Effect
from tclint.lint.engine import check_files

from .dynamo import MEASURED, breaks, loaded, skip_before

PROGRAMS = Path(__file__).parents[1] / "fixtures" / "silence"


def _programs() -> dict[str, tuple[str, bool]]:
    """The programs by name, and whether they break: each file has imports for all of its own."""
    found = {}
    for path in sorted(PROGRAMS.glob("*.txt")):
        head, *rest = path.read_text().split("#--- ")
        for one in rest:
            name, _, text = one.partition("\n")
            found[f"{path.stem}: {name}"] = (head + text, path.stem.endswith("_breaks"))
    return found


_PROGRAMS = _programs()


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The rules that report a graph break in each program."""
    folder = tmp_path_factory.mktemp("silence")
    paths = {name: folder / f"p{number}.py" for number, name in enumerate(_PROGRAMS)}
    for name, path in paths.items():
        path.write_text(_PROGRAMS[name][0])
    config = Config(root=folder, compiled=("*:f",), settings=MEASURED)
    told: dict[Path, list[str]] = {}
    for one in check_files([*paths.values()], config).results:
        if one.diagnostic.effect is Effect.GRAPH_BREAK:
            told.setdefault(one.diagnostic.path, []).append(one.diagnostic.code)
    return {name: told.get(path, []) for name, path in paths.items()}


@pytest.mark.parametrize("name", _PROGRAMS)
def test_what_breaks_is_reported_and_nothing_else(
    name: str, reported: dict[str, list[str]]
) -> None:
    assert bool(reported[name]) == _PROGRAMS[name][1]


@pytest.mark.slow
@pytest.mark.parametrize("name", _PROGRAMS)
def test_dynamo_agrees(name: str) -> None:
    torch = pytest.importorskip("torch")
    skip_before((2, 13))
    text, breaking = _PROGRAMS[name]
    text += "\n\nif isinstance(f, type):\n    f = f()\n"
    function = loaded(text)
    given = getattr(sys.modules[function.__module__], "ARGS", None)
    inputs = given or (torch.arange(1.0, 9.0),)
    assert breaks(text, *inputs) == breaking

"""What a run looked at: the line below reports, the map of regions, settings that name nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tclint.config import Config
from tclint.diagnostics import ChainLink, Position
from tclint.lint.engine import Run, check_files
from tclint.lint.execution import Execution
from tclint.lint.looked import Looked, RegionSeen, together
from tclint.lint.unmatched import unmatched
from tclint.report.formats import OutputFormat, render
from tclint.report.looked import as_json, as_text, looked_line
from tclint.report.view import View
from tclint.server.document import Analysis, Document, Reported
from tclint.server.hover import compiled_at
from tclint.source.file import SourceFile
from tests.cli_runs import tclint

TRAIN = """\
import torch
from net import Net


def train(batches, optimizer):
    model = torch.compile(Net())
    for batch in batches:
        loss = model(batch)
        loss.backward()
        optimizer.step()
"""
NET = """\
import torch
from torch import nn


def helper(x):
    return x * 2


class Net(nn.Module):
    def forward(self, x):
        return helper(x).sum()
"""
LIGHTNING = """\
from torch import nn


class Trained(nn.Module):
    def training_step(self, batch, index):
        return batch.sum()


class Base(nn.Module):
    def forward(self, x):
        return x


class Derived(Base):
    pass
"""
PLAIN = "def double(x):\n    return x * 2\n"


def checked(root: Path, files: dict[str, str], config: Config | None = None) -> Run:
    for name, text in files.items():
        (root / name).write_text(text, encoding="utf-8")
    return check_files([root / name for name in files], config or Config(root))


def named(run: Run) -> list[str]:
    return [region.root.function for region in run.looked.regions]


def test_a_report_tells_of_regions_functions_and_loops(tmp_path: Path) -> None:
    run = checked(tmp_path, {"net.py": NET, "train.py": TRAIN})
    assert looked_line(run) == (
        "Looked at 2 files: 1 compiled region, 2 functions; 1 training loop."
    )


def test_the_map_tells_where_what_and_how_often(tmp_path: Path) -> None:
    run = checked(tmp_path, {"net.py": NET, "train.py": TRAIN})
    told = as_text(run, View(tmp_path))
    assert told.splitlines()[:3] == [
        "Net.forward (net.py:10): compiled in train.py:6",
        "  reaches helper (net.py:5)",
        "  called by the loop at train.py:7",
    ]
    [region] = json.loads(as_json(run))["regions"]
    assert [place["row"] for place in region["compiled_at"]] == [6]
    assert [place["function"] for place in region["functions"]] == ["Net.forward", "helper"]
    assert [loop["row"] for loop in region["loops"]] == [7]


def test_a_loop_over_epochs_is_no_loop_of_its_own(tmp_path: Path) -> None:
    epochs = TRAIN.replace(
        "    for batch in batches:",
        "    for _ in range(9):\n      print()\n      for batch in batches:",
    )
    [(_, rows)] = checked(tmp_path, {"net.py": NET, "train.py": epochs}).looked.loops
    assert rows == (9,)


def test_where_nothing_is_compiled_the_report_says_so_and_what_to_do(tmp_path: Path) -> None:
    told = looked_line(checked(tmp_path, {"plain.py": PLAIN}))
    assert told == (
        "Looked at 1 file: no compiled code. Nothing here is compiled; if other code compiles it, "
        "name it in `compiled`, or use `--scope all`."
    )
    told = looked_line(checked(tmp_path, {"net.py": NET}))
    assert told.startswith("Looked at 1 file: 1 module as if compiled, 2 functions. Nothing here")
    told = looked_line(checked(tmp_path, {"plain.py": PLAIN}, Config(tmp_path, scope="all")))
    assert "1 function as if compiled" in told
    assert "--scope all" not in told


def test_what_is_compiled_and_not_in_view_is_counted(tmp_path: Path) -> None:
    text = "import torch\n\n\ndef f(model):\n    return torch.compile(model)\n"
    run = checked(tmp_path, {"f.py": text})
    assert "1 call of `torch.compile` takes what is not in these files" in looked_line(run)
    assert "Compiled, but not in these files:\n  f (f.py:5)\n" in as_text(run, View(tmp_path))


def test_a_map_of_no_files_is_empty() -> None:
    assert looked_line(Run((), (), 0)) == ""


def test_shards_and_configurations_add_up_without_doubles() -> None:
    net, helper = ChainLink("Net.forward", "net.py", 10), ChainLink("helper", "net.py", 5)
    one, other = ChainLink("f", "a.py", 1), ChainLink("g", "b.py", 2)
    both = together(
        [
            Looked((RegionSeen(net, (one,), (net,)),), (), (other,), (("net.py", (10,)),)),
            Looked((RegionSeen(net, (other,), (net, helper)),), (net,), (), (("net.py", (5, 10)),)),
        ]
    )
    assert both.regions == (RegionSeen(net, (one, other), (net, helper)),)
    assert (both.assumed, both.unseen, both.function_count) == ((), (), 2)


def test_workers_and_the_cache_say_the_same(tmp_path: Path) -> None:
    from tclint.cache.store import Cache

    run = checked(tmp_path, {"net.py": NET, "train.py": TRAIN})
    paths = [tmp_path / "net.py", tmp_path / "train.py"]
    cache = Cache(tmp_path / ".tclint_cache", ("here",))
    for _ in range(2):
        again = check_files(paths, Config(tmp_path), execution=Execution(2, cache))
        assert again.looked == run.looked


def test_programs_get_it_beside_their_report_the_second_time_too(tmp_path: Path) -> None:
    checked(tmp_path, {"net.py": NET, "train.py": TRAIN})
    for _ in range(2):
        done = tclint("check", "--output-format", "json", cwd=tmp_path)
        assert json.loads(done.stdout) == []
        assert done.stderr.startswith("Looked at 2 files: 1 compiled region")


def test_the_report_with_room_for_it_holds_it(tmp_path: Path) -> None:
    run, view = checked(tmp_path, {"net.py": NET, "train.py": TRAIN}), View(tmp_path)
    [invocation] = json.loads(render(OutputFormat.SARIF, run, view))["runs"][0]["invocations"]
    assert invocation["properties"]["lookedAt"] == {
        "files": 2, "compiled_regions": 1, "assumed": 0, "functions": 2, "training_loops": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("pattern", "regions"),
    [
        ("*:training_step", ["Trained.training_step"]),
        ("module:training_step", ["Trained.training_step"]),
        ("module:Trained.training_step", ["Trained.training_step"]),
        ("module:Base", ["Base.forward"]),
        ("module:Derived", ["Base.forward"]),
        ("*:forward", ["Base.forward"]),
        ("other:*", []),
        ("*:step", []),
    ],
)
def test_a_pattern_names_functions_methods_and_classes(
    tmp_path: Path, pattern: str, regions: list[str]
) -> None:
    config = Config(tmp_path, compiled=(pattern,), scope="compiled")
    assert named(checked(tmp_path, {"module.py": LIGHTNING}, config)) == regions


def test_a_pattern_that_names_nothing_is_told(tmp_path: Path) -> None:
    config = Config(tmp_path, compiled=("*:training_step", "modul:Trained"))
    run = checked(tmp_path, {"module.py": LIGHTNING}, config)
    [told] = unmatched(run, [config])
    assert "'modul:Trained' names no function or class" in told
    assert [*unmatched(run, [Config(tmp_path, compiled=config.compiled, partial=True)])] == []


def test_a_scope_in_which_nothing_is_compiled_is_told(tmp_path: Path) -> None:
    config = Config(tmp_path, scope="compiled")
    [told] = unmatched(checked(tmp_path, {"net.py": NET}, config), [config])
    assert told.startswith('scope = "compiled": nothing in the checked files is compiled')
    assert [*unmatched(checked(tmp_path, {"train.py": TRAIN}, config), [config])] == []


def test_an_editor_tells_what_a_call_compiles(tmp_path: Path) -> None:
    run = checked(tmp_path, {"net.py": NET, "train.py": TRAIN})
    path = tmp_path / "train.py"
    analysis = Analysis(
        Document("file:///train.py", path, 1, TRAIN), SourceFile.from_text(path, TRAIN),
        Config(tmp_path), (), looked=run.looked,
    )  # fmt: skip
    told = compiled_at(analysis, Position(6, 20))
    assert told is not None
    assert told[0] == (
        "Compiles `Net.forward`. Reaches `helper`. Called by the loop at train.py:7."
    )
    assert compiled_at(analysis, Position(6, 6)) is None


SELECTED = """\
import torch


def select(x: torch.Tensor):
    return x[x > 0] + 1


run = torch.compile(select)
"""


def test_an_editor_says_at_the_call_which_settings_remove_findings(tmp_path: Path) -> None:
    run = checked(tmp_path, {"select.py": SELECTED})
    path, file = tmp_path / "select.py", run.results[0].file
    reported = tuple(Reported(str(n), result) for n, result in enumerate(run.results))
    document = Document("file:///select.py", path, 1, SELECTED)
    analysis = Analysis(document, file, Config(tmp_path), reported, looked=run.looked)
    told = compiled_at(analysis, Position(8, 14))
    assert told is not None
    line = "torch._dynamo.config.capture_dynamic_output_shape_ops = True"
    assert f"`{line}` before this line remove" in told[0]
    assert "remove 1 finding; " in told[0]

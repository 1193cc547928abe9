"""Which loaders make a training loop wait: those without pinned memory, and without workers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.config import Config
from tclint.lint.engine import check_files

TRAIN = """\
import torch
from torch.utils.data import DataLoader


def train(model, optimizer, {data}, device, **options):
    loader = DataLoader({data}, {given})
    for i, (x, y) in enumerate(loader):
        {copied}
        loss = model(x, y)
        loss.backward()
        optimizer.step()
"""
COPIED = "x = x.to(device); y = y.to(device)"


def codes(tmp_path: Path, given: str, copied: str = COPIED, data: str = "images") -> list[str]:
    path = tmp_path / "train.py"
    path.write_text(TRAIN.format(given=given, copied=copied, data=data), encoding="utf-8")
    run = check_files([path], Config(tmp_path, select=("TCL336", "TCL337")))
    return sorted(result.diagnostic.code for result in run.results)


@pytest.mark.parametrize(
    "given", ["batch_size=4", "num_workers=0", "pin_memory=False", "shuffle=True"]
)
def test_a_loader_without_both_is_told_twice(given: str, tmp_path: Path) -> None:
    assert codes(tmp_path, given) == ["TCL336", "TCL337"]


WELL = "num_workers=4, pin_memory=True"


@pytest.mark.parametrize("given", [WELL, "**options", "num_workers=n, pin_memory=pinned"])
def test_what_may_be_given_is_not_missed(given: str, tmp_path: Path) -> None:
    assert codes(tmp_path, given) == []


def test_each_half_is_told_alone(tmp_path: Path) -> None:
    assert codes(tmp_path, "num_workers=4") == ["TCL336"]
    assert codes(tmp_path, "pin_memory=True") == ["TCL337"]


@pytest.mark.parametrize(
    "copied",
    ["pass", "x = x.half(); x = x.to(device)", "kept = model.weight.to(device)", "x = x[0]"],
)
def test_without_a_copy_of_the_batch_nothing_need_be_pinned(copied: str, tmp_path: Path) -> None:
    assert codes(tmp_path, "num_workers=4", copied) == []


@pytest.mark.parametrize(("data", "confidence"), [("images", "medium"), ("tokens", "low")])
def test_only_what_is_large_is_told_with_confidence(
    data: str, confidence: str, tmp_path: Path
) -> None:
    path = tmp_path / "train.py"
    path.write_text(TRAIN.format(given="shuffle=True", copied=COPIED, data=data), encoding="utf-8")
    run = check_files([path], Config(tmp_path, select=("TCL336", "TCL337")))
    assert [result.diagnostic.confidence.value for result in run.results] == [confidence] * 2


def test_what_torch_made_is_in_memory_already(tmp_path: Path) -> None:
    made = "import torch\nimages = torch.zeros(8, 3)\n"
    source = TRAIN.format(given="pin_memory=True", copied="pass", data="images")
    path = tmp_path / "train.py"
    path.write_text(made + source.replace("images, device", "device"), encoding="utf-8")
    run = check_files([path], Config(tmp_path, select=("TCL337",)))
    assert not run.results


FROM_AFAR = """\
import torch, torchvision
from torch.utils.data import DataLoader

{before}
def train(model, optimizer, loader, device):
    for batch in tqdm(loader):
        {copied}
        loss = model(x, y)
        loss.backward()
        optimizer.step()

{after}
"""
MADE = "def main(data):\n    made = DataLoader(data)\n    "
RETURNED = """\
def loaders(data):
    first = DataLoader(data)
    return first, DataLoader(data, num_workers=2, pin_memory=True)

"""
PLACES = {
    "an argument": MADE + "train(1, 2, made, 'cuda')",
    "an argument by name": MADE + "train(1, 2, device='cuda', loader=made)",
    "a second loop": "for _ in range(3):\n    train(1, 2, DataLoader(9), 3)",
}


UNPACKED = "x, y = batch; x = x.to(device)"


def far(tmp_path: Path, after: str, before: str = "", copied: str = UNPACKED) -> list[str]:
    path = tmp_path / "train.py"
    text = FROM_AFAR.format(before=before, after=after, copied=copied)
    path.write_text(text, encoding="utf-8")
    run = check_files([path], Config(tmp_path, select=("TCL336", "TCL337")))
    return sorted(result.diagnostic.code for result in run.results)


@pytest.mark.parametrize("place", PLACES)
def test_a_loader_that_the_loop_is_given_is_found(place: str, tmp_path: Path) -> None:
    assert far(tmp_path, PLACES[place]) == ["TCL336", "TCL337"]


def test_a_loader_of_several_loops_is_told_once(tmp_path: Path) -> None:
    loop = FROM_AFAR[FROM_AFAR.index("def train") : FROM_AFAR.index("\n\n{after}")]
    again = loop.format(copied=UNPACKED).replace("def train", "def again")
    after = f"{again}\n\nmade = DataLoader(9)\nagain(1, 2, made, 3)\ntrain(1, 2, made, 3)"
    assert far(tmp_path, after) == ["TCL336", "TCL337"]


def test_a_framework_copies_the_batches_of_a_loader_that_it_wraps(tmp_path: Path) -> None:
    wrapped = "net, made = accelerator.prepare(net, made)\n    train(1, net, made, 'cuda')"
    assert far(tmp_path, MADE + wrapped) == ["TCL337"]


@pytest.mark.parametrize(
    "assigned", ["first, other = loaders(data)", "other, first = loaders(data)"]
)
def test_a_loader_that_a_function_returns_is_the_one_at_its_place(
    assigned: str, tmp_path: Path
) -> None:
    after = f"def main(data):\n    {assigned}\n    train(1, 2, first, 'cuda')"
    found = far(tmp_path, after, RETURNED)
    assert found == (["TCL336", "TCL337"] if assigned.startswith("first") else [])


@pytest.mark.parametrize(
    "after",
    [
        "train(1, 2, DataLoader(9), 3)\ntrain(1, 2, DataLoader(9, num_workers=2), 3)",
        "made = DataLoader(9)\nmade = wrap(made)\ntrain(1, 2, made, 3)",
        "made = DataLoader(9)\nmade, other = wrapped\ntrain(1, 2, made, 3)",
        "made = DataLoader(9)\nfor made in others: train(1, 2, made, 3)",
        "made = DataLoader(9)\nmade, net = accelerator.prepare(net, made)\ntrain(1, 2, made, 3)",
        "train(*DataLoader(9))",
        "def train(*args): pass\ntrain(1, 2, DataLoader(9), 3)",
    ],
)
def test_a_loader_that_may_be_another_is_left_alone(after: str, tmp_path: Path) -> None:
    assert far(tmp_path, after) == []


@pytest.mark.parametrize(
    ("copied", "found"),
    [
        ("x, y = [part.to(device) for part in batch]", True),
        ("batch = {k: v.to(device) for k, v in batch.items()}", True),
        ("x = batch['x'].to(device)", True),
        ("x = batch[0]; x = x.cuda()", True),
        ("x = prepare(batch); x = x.to(device)", False),
        ("x = [part.to(device) for part in model.parts]", False),
    ],
)
def test_a_part_of_a_batch_is_a_batch(copied: str, found: bool, tmp_path: Path) -> None:
    codes = far(tmp_path, "train(1, 2, DataLoader(9), 3)", copied=copied)
    assert ("TCL336" in codes) is found

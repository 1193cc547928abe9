"""A parameter without annotation is a tensor unless the code speaks of something else.

Each program was compiled with Dynamo, called as its first line says.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.config import Config
from tclint.lint.engine import check_files
from tests.dynamo import breaks
from tests.test_rewritten_state import told

HEAD = """\
from collections.abc import Mapping, Sequence

import torch


"""


def programs(text: str) -> dict[str, tuple[str, str]]:
    """Programs and the arguments that they are called with, by their names."""
    found = {}
    for one in text.split("\n# ")[1:]:
        title, _, rest = one.partition("\n")
        name, _, arguments = title.partition(": ")
        found[name] = rest, arguments
    return found


PLAIN = programs("""
# a dict that is asked for a key: {"x": X}
def f(batch):
    if "y" in batch:
        return batch["y"]
    return batch["x"] * 2

# a dict in a dict: {"net": {"x": X}}
def f(sample):
    if "mask" in sample["net"]:
        return sample["net"]["mask"]
    return sample["net"]["x"] * 2

# a list of dicts: [{"image": X, "height": 4}]
def f(inputs):
    if "instances" in inputs[0]:
        return inputs[0]["instances"]
    if inputs[0]["height"] > 3:
        return inputs[0]["image"] * 2
    return inputs[0]["image"]

# a dimension, or a tuple of them: X, (0,)
def f(x, dim):
    axes = list(range(-dim, 0)) if isinstance(dim, int) else list(dim)
    axes = [a if a >= 0 else x.ndim + a for a in axes]
    return x.flip(axes)

# what one call gives a number, and another does not say: X, 0.5
def f(x, end):
    import math
    return x * math.sqrt(end)

def main(settings):
    f(torch.ones(3), settings.end)
    return f(torch.ones(3), 0.5), torch.compile(f)

# a length that need not be given: X
def f(x, seq_length=None):
    n = seq_length or 3
    return x[:n] * 2

# what a shape is asked for: X, 0
def f(x, axis):
    if axis < 0:
        return x
    return x / x.shape[axis]

# what a dict of a list says is compared with a string: X, [{"flip": True, "way": "left"}]
def f(x, metas):
    flip = metas[0]["flip"]
    if flip:
        way = metas[0]["way"]
        if way == "left":
            x = x.flip(0)
    for meta in metas:
        if meta["flip"]:
            x = x + 1
    return x

# a string: X, "train"
def f(x, mode):
    if mode == "train":
        return x * 2
    if mode in ("eval", "test"):
        return x
    return x + 1

# a string that is asked how it starts: X, "a.b"
def f(x, name):
    if name.startswith("a") or name[0] == "b":
        return x * 2
    return x

# the device as a string: X, "cpu"
def f(x, device):
    if device == "npu":
        x = x * 2
    return x.to(device)

# sizes: X, 1, 3
def f(x, h, w):
    x = x.view(h, w)
    if h > w:
        return x * 2
    if h % 2 == 1:
        x = x[:, 1:]
    return x

# a shape that is taken apart: (2, 3, 5)
def f(shape):
    b, t, d = shape
    assert d == 5
    return torch.zeros((b, t)) + torch.full((b, 1), d)

# a list of sizes: X, [3, 1]
def f(x, sizes):
    if sizes[0] > 2:
        x = x + 1
    for size in sizes:
        x = x.view(size, -1)
    return x

# a setting made a number: X, 2
def f(x, max_norm):
    max_norm = float(max_norm)
    return x * max_norm

# a dict that is handed on as arguments: X, {"by": 2}
def scaled(x, by):
    return x * by

def f(x, options):
    if options:
        x = x + 1
    return scaled(x, **options)

# what another function does with it: X, [{"flip": True}]
def turned(x, meta):
    return x.flip(0) if meta["flip"] else x

def f(x, metas):
    if not metas[0]:
        return x
    return turned(x, metas[0])

# what another function declares: X, "left"
def turned(x, way: str):
    return x.flip(0) if way == "left" else x

def f(x, way):
    return turned(x, way) if way else x

# what the docstring says: X, [{"flip": True}]
def f(x, metas):
    '''Turn images.

    Args:
        x (Tensor): Images.
        metas (list[dict]): What was done to them.
    '''
    for meta in metas:
        if not meta:
            return x
    return x * 2

# a default in a dict: X, {}
def f(x, options):
    if options.get("deep", False):
        return x * 2
    return x

# a type that is asked for: X, [1, 0]
def f(x, y):
    if isinstance(y, Sequence):
        if y[0]:
            return x * 2
        return x
    return x * y

# a list that grows: X, []
def f(x, found):
    if not found:
        x = x + 1
    found.append(1)
    return x

# a text in a batch that is said to hold tensors: {"x": X, "task": "pick"}
def f(batch: dict[str, torch.Tensor]):
    task = batch.get("task")
    if isinstance(task, (list, tuple)):
        task = task[0]
    return batch["x"] * 2, {f"{task}/loss": 1}

# that is handed on: {"x": X, "name": "train"}
def key(batch: dict[str, torch.Tensor]):
    return "{}/{}".format(batch["name"], "loss") + str(batch["name"])

def f(batch: dict[str, torch.Tensor]):
    return {key(batch): batch["x"] * 2}

# and of a batch that is prepared first: {"x": X, "name": "train"}
def prepared(batch: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    batch["y"] = batch["x"] + 1
    return batch

def f(batch: dict[str, torch.Tensor]):
    batch = prepared(batch)
    losses = {}
    losses["{}/loss".format(batch["name"])] = batch["y"] * 2
    return losses
""")

BREAKING = programs("""
# a tensor in a dict: {"x": X}
def f(batch):
    if "y" in batch:
        return batch["y"]
    if batch["x"].sum() > 1:
        return batch["x"]
    return batch["x"] * 2

# a tensor in a dict in a dict: {"net": {"x": X}}
def f(sample):
    x = sample["net"]["x"]
    if x.sum() > 1:
        return x
    return x * 2

# a tensor in a list of dicts: [{"boxes": X[None], "flip": False}]
def f(targets):
    for target in targets:
        boxes = target["boxes"]
        if (boxes[:, 1:] < 0).any():
            return boxes
    return boxes * 2

# a tensor or a dict: X
def f(x):
    if isinstance(x, dict):
        x = x["image"]
    if x.sum() > 1:
        return x
    return x * 2

# a tensor or a list: X
def f(x):
    if isinstance(x, Sequence):
        x = x[0]
    if x.sum() > 1:
        return x
    return x * 2

# what is bound anew: {"x": X}
def f(x):
    x = x["x"]
    if x.sum() > 1:
        return x
    return x * 2

# lengths end slices: X[None], torch.tensor([2])
def f(x, lengths):
    total = 0
    for i in range(x.shape[0]):
        total = total + x[i, : lengths[i]].sum()
    return total

# parts that are tensors: (X, torch.tensor([2]))
def f(pair):
    x, lengths = pair
    return x[: lengths[0]] * 2

# a tensor in a list of lists: [[X]]
def f(rows):
    for row in rows:
        for x in row:
            if x.sum() > 1:
                return x
    return x * 2

# a tensor beside what another function takes: X, [{"flip": True}]
def turned(x, meta):
    return x.flip(0) if meta["flip"] else x

def f(x, metas):
    x = turned(x, metas[0])
    if x.sum() > 1:
        return x
    return x * 2

# a tensor that is used as one, and ends a slice: X, torch.tensor(2)
def f(x, n):
    m = n.clamp(max=2)
    return x[:m] * x[:n].sum()

# the first argument of torch.reshape is no size: X
def f(x):
    y = torch.reshape(x, (-1,))
    if y.sum() > 3:
        return y
    return x

# a tensor in a batch is printed: {"x": X}
def f(batch: dict[str, torch.Tensor]):
    loss = batch["x"].sum()
    text = str(loss)
    return loss * len(text)

# and a member that is used as a tensor, too: {"x": X}
def f(batch: dict[str, torch.Tensor]):
    text = str(batch["x"])
    return batch["x"].sum() * len(text)

# and one of a batch that is prepared first: {"x": X}
def prepared(batch: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    batch["y"] = batch["x"] + 1
    return batch

def f(batch: dict[str, torch.Tensor]):
    batch = prepared(batch)
    text = str(batch["x"])
    return batch["x"].sum() * len(text)

# a number that the batch says is a tensor: {"x": X, "n": torch.tensor(2)}
def f(batch: dict[str, torch.Tensor]):
    y = batch["x"]
    for _ in range(batch["n"]):
        y = y * 2
    return y

# what calls do not say, and the function sums up: X, X
def f(x, end):
    if torch.sum(end) > 0.1:
        return x
    return x + 1

def main(settings):
    f(torch.ones(3), settings.end)
    return f(torch.ones(3), 0.5), torch.compile(f)

# lengths that need not be given: X, torch.tensor(2)
def f(x, seq_lengths=None):
    if seq_lengths is not None and seq_lengths.sum() > 3:
        return x
    return x * 2

# the rows of a tensor as a list: X
def f(x):
    out = 0
    for row in list(x):
        if row.sum() > 1:
            out = out + row
    return out

# nor is that of itertools.repeat: X
def f(x):
    import itertools
    return x * sum(t.sum().item() for t in itertools.repeat(x, 2))
""")


def test_the_maximum_of_noisy_data_is_not_called_random(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    noisy = "    y = x * torch.rand_like(x)\n    return x if y.max() > 1 else x * 2\n"
    path.write_text(f"import torch\n\n\ndef f(x: torch.Tensor):\n{noisy}", encoding="utf-8")
    results = check_files([path], Config(root=tmp_path, compiled=("*:f",))).results
    assert [result.diagnostic.code for result in results] == ["TCL160"]


def _arguments(text: str) -> tuple[object, ...]:
    torch = pytest.importorskip("torch")
    found: object = eval(f"({text},)", {"torch": torch, "X": torch.tensor([1.0, 2.0, 3.0])})
    assert isinstance(found, tuple)
    return found


@pytest.mark.parametrize(("text", "_arguments_of"), PLAIN.values(), ids=PLAIN.keys())
def test_what_is_no_tensor_is_not_taken_for_one(
    tmp_path: Path, text: str, _arguments_of: str
) -> None:
    assert not told(tmp_path, HEAD + text)


@pytest.mark.parametrize(("text", "_arguments_of"), BREAKING.values(), ids=BREAKING.keys())
def test_a_tensor_beside_it_is_still_told(tmp_path: Path, text: str, _arguments_of: str) -> None:
    assert told(tmp_path, HEAD + text)


@pytest.mark.slow
@pytest.mark.parametrize(("text", "arguments"), PLAIN.values(), ids=PLAIN.keys())
def test_dynamo_traces_what_is_no_tensor(text: str, arguments: str) -> None:
    assert not breaks(HEAD + text, *_arguments(arguments))


@pytest.mark.slow
@pytest.mark.parametrize(("text", "arguments"), BREAKING.values(), ids=BREAKING.keys())
def test_dynamo_breaks_at_the_tensor(text: str, arguments: str) -> None:
    assert breaks(HEAD + text, *_arguments(arguments))


LAYERS = """\
import torch
from torch import nn


class Inner(nn.Module):
    def forward(self, x, h, w):
        rows = x.view(2, h, w)
        places = h * w
        return rows.reshape(2, places) * 2 if places > w else rows


class Other(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def forward(self, x, h, w):
        return self.inner(x, h, w)


class Net(nn.Module):
    def __init__(self, first=True):
        super().__init__()
        self.inner = Inner() if first else Other()

    def forward(self, x, x_size):
        h, w = x_size
        return self.inner(x, h, w)


def f(x, x_size):
    return Net()(x, x_size)
"""
TENSOR_IN_LAYER = LAYERS.replace("h * w", "h.sum()").replace("2, h, w)", "2, 3, w)")


def test_what_a_layer_takes_for_a_size_is_no_tensor(tmp_path: Path) -> None:
    assert _told_of_modules(tmp_path, LAYERS) == []


def test_what_a_layer_takes_for_a_tensor_stays_one(tmp_path: Path) -> None:
    assert _told_of_modules(tmp_path, TENSOR_IN_LAYER) == ["TCL106", "TCL160"]


@pytest.mark.slow
def test_dynamo_traces_sizes_that_are_handed_to_a_layer() -> None:
    torch = pytest.importorskip("torch")
    assert not breaks(LAYERS, torch.ones(2, 6), (2, 3))
    assert breaks(TENSOR_IN_LAYER, torch.ones(2, 6), (torch.ones(6, dtype=torch.int64), 2))


def _told_of_modules(folder: Path, text: str) -> list[str]:
    path = folder / "program.py"
    path.write_text(text.partition("def f(")[0], encoding="utf-8")
    results = check_files([path], Config(root=folder)).results
    return [one.diagnostic.code for one in results]

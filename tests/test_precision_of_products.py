"""Which training files multiply in full float32, and may not know."""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.config import Config
from tclint.lint.engine import check_files

SCRIPT = """\
import torch
from torch import nn
{said}

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = {layer}


def main(batches, optimizer):
    model = Net().to("cuda")
    for x in batches:
        loss = model(x).sum()
        loss.backward()
        optimizer.step()


{end}
"""
END = 'if __name__ == "__main__":\n    main()'
ATTENTION = "nn.MultiheadAttention(8, 2)"


def levels(tmp_path: Path, layer: str = ATTENTION, said: str = "", end: str = END) -> list[str]:
    path = tmp_path / "train.py"
    path.write_text(SCRIPT.format(layer=layer, said=said, end=end), encoding="utf-8")
    run = check_files([path], Config(tmp_path, select=("TCL620",), weak=True))
    return [result.diagnostic.confidence.value for result in run.results]


@pytest.mark.parametrize(
    "layer",
    [ATTENTION, "nn.TransformerEncoderLayer(8, 2)", "CausalSelfAttention()"],
)
def test_a_script_whose_model_is_all_products_is_told(layer: str, tmp_path: Path) -> None:
    assert levels(tmp_path, layer) == ["medium"]


def test_another_file_may_set_it_for_a_library(tmp_path: Path) -> None:
    assert levels(tmp_path, end="") == ["low"]


def test_a_compiled_model_may_be_small(tmp_path: Path) -> None:
    assert levels(tmp_path, "torch.compile(nn.Linear(8, 8))") == ["low"]
    assert levels(tmp_path, "torch.compile(optimizer.step)") == []


@pytest.mark.parametrize(
    "layer", ["nn.Conv2d(3, 3, 3)", "nn.LSTM(8, 8)", "nn.Linear(8, 8)", "'attention'"]
)
def test_other_models_are_left_alone(layer: str, tmp_path: Path) -> None:
    assert levels(tmp_path, layer) == []


@pytest.mark.parametrize(
    "said",
    [
        'torch.set_float32_matmul_precision("highest")',
        "torch.backends.cuda.matmul.allow_tf32 = False",
        "from torch.cuda import amp",
        "half = torch.bfloat16",
        "from accelerate import Accelerator",
        "import lightning as L",
    ],
)
def test_whoever_speaks_of_precision_is_left_alone(said: str, tmp_path: Path) -> None:
    assert levels(tmp_path, said=said) == []

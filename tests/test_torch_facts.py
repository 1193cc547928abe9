"""The tables about torch: what they say, and that they still say what torch does."""

from __future__ import annotations

import importlib
import inspect
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tclint import torch_facts
from tclint.torch_bounds import NEWEST_TORCH, shown
from tclint.torch_facts.dtypes import TYPED
from tclint.torch_facts.factories import FACTORIES
from tclint.torch_facts.lifetimes import Lifetime, lifetimes
from tclint.torch_facts.measured import Skipped
from tclint.torch_facts.members import ONLY_TENSORS
from tclint.torch_facts.table import FILE
from tests.dynamo import skip_before
from tests.semantics_probe import mismatch

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize(
    ("dotted", "code"),
    [
        ("torch.relu", "tensor"),
        ("torch.max", "tensor|tensor*2"),
        ("torch.split", "tensors"),
        ("torch.equal", "bool"),
        ("torch.is_tensor", "bool"),
        ("torch.numel", "int"),
        ("torch._assert_async", "none"),
        ("torch.linalg.svd", "tensor*3"),
        ("torch.linalg.norm", "tensor"),
        ("torch.fft.fft", "tensor"),
        ("torch.special.expit", "tensor"),
        ("torch.nn.functional.relu", "tensor"),
        ("torch.nn.functional.conv2d", "tensor"),
        ("torch.nn.functional.gelu", "tensor"),
        ("torch.nn.functional.scaled_dot_product_attention", "tensor"),
        ("torch.nn.functional.max_pool2d", "tensor|tensor*2"),
        ("torch.nn.functional.multi_head_attention_forward", "tuple"),
        ("torch.functional.einsum", "tensor"),
        ("torch.cuda.is_available", "bool"),
        ("torch.Tensor.item", "number"),
        ("torch.no_such_function", None),
    ],
)
def test_functions_return(dotted: str, code: str | None) -> None:
    assert torch_facts.function_returns(dotted) == code


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("view", "tensor"),
        ("size", "int|size"),
        ("dim", "int"),
        ("tolist", "list"),
        ("max", "tensor|tensor*2"),
        ("topk", "tensor*2"),
        ("chunk", "tensors"),
        ("is_floating_point", "bool"),
        ("backward", "none"),
        ("frobnicate", None),
    ],
)
def test_methods_return(name: str, code: str | None) -> None:
    assert torch_facts.method_returns(name) == code


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("shape", "size"),
        ("dtype", "dtype"),
        ("device", "device"),
        ("T", "tensor"),
        ("is_cuda", "bool"),
        ("grad", "tensor|none"),
        ("ndim", "int"),
        ("frobnicate", None),
    ],
)
def test_attributes_hold(name: str, code: str | None) -> None:
    assert torch_facts.attribute_kind(name) == code


@pytest.mark.parametrize(
    ("dotted", "parameters", "returns"),
    [
        ("torch.nn.Linear", True, "tensor"),
        ("torch.nn.modules.conv.Conv2d", True, "tensor"),
        ("torch.nn.ReLU", False, "tensor"),
        ("torch.nn.LSTM", True, "tuple"),
        ("torch.nn.LSTMCell", True, "tensor*2"),
        ("torch.nn.MultiheadAttention", True, "tuple"),
        ("torch.nn.MaxPool2d", False, "tensor|tensor*2"),
        ("torch.nn.ModuleList", None, "other"),
    ],
)
def test_modules(dotted: str, parameters: bool | None, returns: str) -> None:
    assert torch_facts.is_module(dotted)
    assert torch_facts.has_parameters(dotted) is parameters
    assert torch_facts.module_returns(dotted) == returns


def test_a_function_is_no_module() -> None:
    assert not torch_facts.is_module("torch.nn.functional.linear")
    assert torch_facts.has_parameters("torch.nn.Frobnicate") is None


def test_a_convolution_keeps_the_rank() -> None:
    result = torch_facts.module_result("torch.nn.Conv2d")
    assert result is not None
    assert result.rank == "same"


def test_optimizers_know_their_parameters() -> None:
    adam = torch_facts.optimizers()["torch.optim.AdamW"]
    assert {"lr", "capturable", "foreach", "fused"} <= set(adam.parameters)
    assert adam.tensor_lr
    assert not torch_facts.optimizers()["torch.optim.SparseAdam"].tensor_lr


def test_only_cycling_schedulers_write_floats() -> None:
    writing = {s.name for s in torch_facts.lr_schedulers().values() if s.writes_floats}
    assert writing == {"OneCycleLR", "CyclicLR"}


@pytest.mark.parametrize(
    ("name", "via", "ids"),
    [
        ("item", "item", ("GB0124",)),
        ("torch.equal", "bool", ("GB0033",)),
        ("numpy", "numpy", ()),
        ("relu", None, ()),
    ],
)
def test_host_reads(name: str, via: str | None, ids: tuple[str, ...]) -> None:
    assert torch_facts.reads_host(name) == via
    assert torch_facts.host_read_gb_ids(name) == ids


def test_shapes_that_depend_on_data() -> None:
    assert torch_facts.dynamic_shape("nonzero") == ("GB0036", "always")
    assert torch_facts.dynamic_shape("torch.where") == ("GB0036", "one-argument")
    assert torch_facts.dynamic_shape("topk") is None


def test_skipped_calls_carry_their_id() -> None:
    assert torch_facts.skipped_by_dynamo("time.time", (2, 13)) == Skipped("GB0007")
    assert torch_facts.skipped_by_dynamo("time.time", (2, 15)) == Skipped("GB9193")
    assert torch_facts.skipped_by_dynamo("os.getenv", (2, 13)) is None


def test_what_is_traced_from_a_release_on_breaks_before() -> None:
    found = torch_facts.skipped_by_dynamo("random.random", (2, 15))
    assert found == Skipped("GB0007", until=(2, 14))
    assert found.holds((2, 13))
    assert not found.holds((2, 14))


@pytest.mark.parametrize(
    ("dotted", "kind"),
    [
        ("numpy", "module"),
        ("numpy.random", "module"),
        ("numpy.arange", "array"),
        ("numpy.prod", "scalar"),
        ("numpy.sqrt", "pointwise"),
        ("numpy.pi", "float"),
        ("numpy.no_such", None),
        ("scipy.sqrt", None),
    ],
)
def test_numpy_functions_return(dotted: str, kind: str | None) -> None:
    assert torch_facts.numpy_returns(dotted) == kind


def test_factories_of_legacy_types() -> None:
    found = torch_facts.factory("torch.cuda.FloatTensor")
    assert found is not None
    assert found.dtype == "float32"
    assert torch_facts.factory("torch.relu") is None


def test_the_tables_need_no_torch() -> None:
    code = (
        "import sys; from tclint import torch_facts; torch_facts.function_returns('torch.relu');"
        "print('torch' in sys.modules, 'libcst' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_the_committed_table_is_sorted() -> None:
    table = json.loads(FILE.read_bytes())
    assert list(table) == sorted(table)
    assert all(list(part) == sorted(part) for part in table.values() if isinstance(part, dict))


def test_factories_exist_in_torch() -> None:
    torch = pytest.importorskip("torch")
    for dotted in [*FACTORIES, *(f"torch.{name}" for name in TYPED)]:
        assert callable(getattr(torch, dotted.removeprefix("torch."))), dotted


@pytest.mark.slow
def test_the_generator_still_makes_the_committed_tables() -> None:
    torch = pytest.importorskip("torch")
    if not torch.__version__.startswith(f"{shown(NEWEST_TORCH)}."):
        pytest.skip("the tables are those of another torch")
    command = [sys.executable, "-m", "scripts.torch_facts", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert (done.stdout, done.returncode) == ("nothing changed\n", 0)


def test_the_tables_are_those_of_the_newest_torch() -> None:
    assert json.loads(FILE.read_bytes())["torch"] == shown(NEWEST_TORCH)
    releases = [one.since for one in lifetimes("names").values()]
    assert max(releases) == NEWEST_TORCH


@pytest.mark.parametrize(
    ("layer", "name", "role"),
    [
        ("torch.nn.Linear", "weight", "parameter"),
        ("torch.nn.modules.batchnorm.BatchNorm2d", "running_mean", "buffer"),
        ("torch.nn.BatchNorm2d", "eps", None),
        ("torch.nn.ReLU", "weight", None),
        ("torch.nn.Linear", "running_mean", None),
        ("torch.nn.Module", "weight", None),
    ],
)
def test_layers_have_tensors(layer: str, name: str, role: str | None) -> None:
    assert torch_facts.layer_tensor(layer, name) == role


def test_tensors_have_members() -> None:
    assert torch_facts.is_tensor_member("unsqueeze")
    assert torch_facts.is_tensor_member("ndim")
    assert torch_facts.is_tensor_member("item")
    assert not torch_facts.is_tensor_member("edge_index")
    assert torch_facts.is_only_of_tensors("masked_fill_")
    assert not torch_facts.is_only_of_tensors("sum")


def test_what_only_tensors_have_nothing_else_has() -> None:
    torch = pytest.importorskip("torch")
    numpy = pytest.importorskip("numpy")
    known = {name for name in ONLY_TENSORS if hasattr(torch.Tensor, name)}
    assert {name for name in ONLY_TENSORS if not name.endswith("_")} <= known
    others = (numpy.ndarray, torch.nn.Module, torch.dtype, dict, list, set, str, int, float)
    assert not [(name, kind) for kind in others for name in known if hasattr(kind, name)]


@pytest.mark.parametrize(
    ("name", "gb_id"),
    [
        ("scipy.optimize.linear_sum_assignment", "GB0007"),
        ("itertools.combinations_with_replacement", "GB0147"),
        ("torch.sparse_coo_tensor", "GB0007"),
    ],
)
def test_some_calls_are_left_to_python(name: str, gb_id: str) -> None:
    skipped = torch_facts.skipped_by_dynamo(name, (2, 13))
    assert skipped is not None
    assert skipped.gb_id == gb_id


# What decorates, sets compiling up, or is for other devices' and quantization's own modules.
_OTHERS = ("torch.ao.", "torch.compiler.", "torch._dynamo.")
_HOMES = (
    "torch torch.nn.init torch.nn.utils.rnn torch.utils torch.utils.checkpoint torch.utils.data "
    "torch.utils.dlpack torch.autograd "
    "torch.autograd.functional torch.autograd.graph torch.func torch.jit torch.hub torch.random "
    "torch.cuda torch.cuda.random torch.serialization torch.masked torch.nested torch.export "
    "torch.profiler torch.multiprocessing torch.fx"
).split()
# Looked up as skipped, and traced all the same, or ended by other means.
_TRACED = {
    "torch.compile",  # a program that was run before may have put its own in that place
    "torch.get_device_module",
    "torch.utils.checkpoint.checkpoint",
    "torch.cuda.check_error",
}


@pytest.mark.slow
def test_whatever_dynamo_skips_of_torch_is_known() -> None:
    pytest.importorskip("torch")
    skip_before((2, 13))
    from torch._dynamo import trace_rules
    from torch._dynamo.variables import SkipFunctionVariable

    skipped = set()
    for home in _HOMES:
        module = importlib.import_module(home)
        for name in getattr(module, "__all__", None) or vars(module):
            function = getattr(module, name, None)
            if name.startswith("_") or inspect.isclass(function) or not callable(function):
                continue
            own = str(getattr(function, "__module__", "")).startswith("torch")
            if own and trace_rules.lookup(function) is SkipFunctionVariable:
                skipped.add(f"{home}.{name}")
    unknown = {name for name in skipped - _TRACED if not torch_facts.is_skipped(name)}
    assert {name for name in unknown if not name.startswith(_OTHERS)} == set()


def test_a_name_lives_from_behind_the_last_release_that_lacked_it() -> None:
    pytest.importorskip("torch")
    from scripts.torch_facts.lifetimes import between

    asked = [(2, 6), (2, 13), (2, 15)]
    having = {
        (2, 6): {"old", "stays"},
        (2, 13): {"stays", "new"},
        (2, 15): {"stays", "new", "last"},
    }
    assert between(asked, having) == {
        "old": Lifetime((2, 0), (2, 13)),
        "stays": Lifetime((2, 0)),
        "new": Lifetime((2, 7)),
        "last": Lifetime((2, 14)),
    }
    with pytest.raises(ValueError, match="gone for a while"):
        between(asked, {(2, 6): {"back"}, (2, 13): set(), (2, 15): {"back"}})


@pytest.mark.parametrize("name", sorted(TYPED))
def test_an_annotation_with_an_older_class_of_tensors_is_one_of_tensors(
    tmp_path: Path, name: str
) -> None:
    text = f"import torch\n\n\n@torch.compile\ndef f(x: torch.{name}):\n    return x.item()"
    assert not mismatch(tmp_path, {"program.py": f"{text}  #! HostRead item\n"})

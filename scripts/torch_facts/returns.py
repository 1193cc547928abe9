"""What torch's functions, tensor methods and tensor attributes return, by torch's own stubs."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType

import torch

from scripts.torch_facts.annotations import Annotations, joined, schema_code

ROOT = Path(torch.__file__).parent
PRIVATE_BUT_USED = ("_assert_async", "_foreach_")
FOREIGN = ("torch.overrides", "torch._jit_internal", "torch.utils._pytree", "torch._C")

# Functions and methods that torch leaves without an annotation, read from their sources.
UNANNOTATED = {
    "torch._assert": "none",
    "torch._check": "none",
    "torch._check_index": "none",
    "torch._check_is_size": "none",
    "torch._check_not_implemented": "none",
    "torch._check_tensor_all": "none",
    "torch._check_type": "none",
    "torch._check_value": "none",
    "torch._check_with": "none",
    "torch.atleast_1d": "tensor|tensors",
    "torch.atleast_2d": "tensor|tensors",
    "torch.atleast_3d": "tensor|tensors",
    "torch.block_diag": "tensor",
    "torch.broadcast_shapes": "size",
    "torch.broadcast_tensors": "tensors",
    "torch.cdist": "tensor",
    "torch.chain_matmul": "tensor",
    "torch.from_dlpack": "tensor",
    "torch.lu": "tensor*2|tensor*3",
    "torch.manual_seed": "other",
    "torch.meshgrid": "tensors",
    "torch.norm": "tensor",
    "torch.split": "tensors",
    "torch.split_copy": "tensors",
    "torch.split_with_sizes_copy": "tensors",
    "torch.stft": "tensor",
    "torch.tensordot": "tensor",
    "torch.unbind_copy": "tensors",
    "torch.unique": "tensor|tensor*2|tensor*3",
    "torch.unique_consecutive": "tensor|tensor*2|tensor*3",
}
METHODS = {
    "__array__": "other",
    "__iter__": "tensors",
    "__len__": "int",
    "backward": "none",
    "dim_order": "tuple",
    "is_shared": "bool",
    "istft": "tensor",
    "lu": "tensor*2|tensor*3",
    "norm": "tensor",
    "register_hook": "other",
    "resize": "tensor",
    "resize_as": "tensor",
    "share_memory_": "tensor",
    "split": "tensors",
    "stft": "tensor",
    "to_sparse_coo": "tensor",
    "unflatten": "tensor",
    "unique": "tensor|tensor*2|tensor*3",
    "unique_consecutive": "tensor|tensor*2|tensor*3",
}
OPERATOR_NAMESPACES = ("linalg", "fft", "special")
ANNOTATED_MODULES = (
    "torch",
    "torch.amp",
    "torch.autograd",
    "torch.compiler",
    "torch.cuda",
    "torch.distributed",
    "torch.jit",
    "torch.nested",
    "torch.nn.functional",
    "torch.nn.utils",
    "torch.nn.utils.rnn",
    "torch.random",
    "torch.signal.windows",
    "torch.sparse",
    "torch.utils.checkpoint",
)

Table = dict[str, str]


class _Collector:
    def __init__(self) -> None:
        self._codes: dict[str, list[str]] = defaultdict(list)

    def add(self, name: str, code: str) -> None:
        self._codes[name].append(code)

    def table(self) -> Table:
        return {name: joined(codes) for name, codes in self._codes.items()}


def named_tuples() -> Table:
    """The codes of the classes of ``torch.return_types``."""
    reader = Annotations({})
    tree = ast.parse((ROOT / "return_types.pyi").read_text())
    return {
        node.name: reader.code(node.bases[0])
        for node in tree.body
        if isinstance(node, ast.ClassDef) and node.bases
    }


def tensor_members(reader: Annotations) -> tuple[Table, Table]:
    """The methods and the attributes of ``torch.Tensor``."""
    methods, attributes = _Collector(), _Collector()
    for node in _tensor_base():
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            attributes.add(node.target.id, reader.code(node.annotation))
        elif isinstance(node, ast.FunctionDef):
            is_property = any(ast.unparse(d).endswith("property") for d in node.decorator_list)
            (attributes if is_property else methods).add(
                node.name, reader.code(node.returns, "tensor")
            )
    found = methods.table() | METHODS
    return _public(found, dunder=True), _public(attributes.table(), dunder=False)


def _tensor_base() -> list[ast.stmt]:
    tree = ast.parse((ROOT / "_C/__init__.pyi").read_text())
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == "TensorBase":
            return node.body
    raise LookupError("torch._C has no TensorBase any more")


def functions(reader: Annotations) -> Table:
    """The functions of torch's public modules, by dotted name."""
    found: Table = {}
    for module in ANNOTATED_MODULES:
        found |= _from_annotations(importlib.import_module(module), module, reader)
    found |= _from_stub("_C/_VariableFunctions.pyi", "torch", reader)
    found |= _from_stub("nn/functional.pyi", "torch.nn.functional", reader)
    for namespace in OPERATOR_NAMESPACES:
        found |= _from_schemas(namespace)
    return _without_stub() | found | UNANNOTATED


def _from_stub(stub: str, prefix: str, reader: Annotations) -> Table:
    collector = _Collector()
    for node in ast.parse((ROOT / stub).read_text()).body:
        if isinstance(node, ast.FunctionDef) and _is_public(node.name):
            collector.add(f"{prefix}.{node.name}", reader.code(node.returns))
    return collector.table()


def _from_annotations(module: ModuleType, prefix: str, reader: Annotations) -> Table:
    found: Table = {}
    for name, function in _functions_of(module):
        returns = function.__annotations__.get("return", inspect.Signature.empty)
        if returns is not inspect.Signature.empty:
            text = returns if isinstance(returns, str) else inspect.formatannotation(returns)
            found[f"{prefix}.{name}"] = reader.code(text)
    return found


def _functions_of(module: ModuleType) -> Iterator[tuple[str, FunctionType]]:
    for name, function in sorted(vars(module).items()):
        if not _is_public(name) or not inspect.isfunction(function):
            continue
        home = function.__module__
        if home.startswith("torch") and not home.startswith(FOREIGN):
            yield name, function


def _from_schemas(namespace: str) -> Table:
    collector = _Collector()
    public = {n for n in dir(getattr(torch, namespace)) if _is_public(n)}
    for schema in torch._C._jit_get_all_schemas():
        name = schema.name.removeprefix(f"aten::{namespace}_")
        if name != schema.name and name in public:
            returns = [str(result.type) for result in schema.returns]
            collector.add(f"torch.{namespace}.{name}", schema_code(returns))
    return collector.table()


def _without_stub() -> Table:
    """Built-in functions of ``torch.nn.functional`` that its stub only imports."""
    functional = importlib.import_module("torch.nn.functional")
    builtin = {n for n, f in vars(functional).items() if inspect.isbuiltin(f) and _is_public(n)}
    operators: dict[str, str] = {}
    for schema in torch._C._jit_get_all_schemas():
        name = schema.name.removeprefix("aten::")
        if not schema.overload_name and name != schema.name:
            operators[name] = schema_code([str(result.type) for result in schema.returns])
    renamed = {"logsigmoid": "log_sigmoid"}
    found = {n: operators.get(renamed.get(n, n)) for n in builtin}
    return {f"torch.nn.functional.{n}": code for n, code in found.items() if code}


def _is_public(name: str) -> bool:
    return not name.startswith("_") or name.startswith(PRIVATE_BUT_USED)


def _public(table: Table, *, dunder: bool) -> Table:
    def wanted(name: str) -> bool:
        return not name.startswith("_") or (dunder and name.startswith("__"))

    return {name: code for name, code in table.items() if wanted(name)}

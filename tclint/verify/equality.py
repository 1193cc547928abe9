"""Compare two frozen results: bit for bit first, within a stated tolerance else (child only)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import torch

from tclint.verify.events import Equality
from tclint.verify.nearness import Errors, Findings, compare_values, largest, numbers_off
from tclint.verify.snapshot import Nest, Opaque, Plain, Raised, Snapshot, TensorLeaf


def compare(
    expected: Mapping[str, Snapshot],
    actual: Mapping[str, Snapshot],
    truth: Mapping[str, Snapshot] | None = None,
    tolerance: float | None = None,
    *,
    same_draws: bool = False,
    changed: bool = False,
) -> Equality:
    """Compare two runs: what each call gave, and whatever else has a name.

    ``truth`` is a run in float64 to measure errors against; a ``tolerance`` stated by the target,
    relative to the largest value of a tensor, comes before it. ``same_draws``: no run draws random
    numbers, so that float64 is the truth about them however far away it ends up. ``changed``: the
    code in float64 is that of the actual run, which may compute something else than the expected.
    """
    found = Findings(stated=tolerance, same_draws=same_draws, changed=changed)
    if expected.keys() != actual.keys():
        found.differences.append(f"{', '.join(expected)}, then {', '.join(actual)}")
    for name in (name for name in expected if name in actual):
        found.part = name
        found.top, found.errors = _top(expected[name]) if truth else 0.0, Errors(changed=changed)
        _compare(expected[name], actual[name], (truth or {}).get(name), name, found)
        found.differences += found.errors.unexcused
    found.differences += numbers_off(found.numbers, changed=changed)
    return _verdict(found)


def unknown(reason: str) -> Equality:
    """The answer where two runs cannot be compared."""
    return Equality("unknown", reason)


def _verdict(found: Findings) -> Equality:
    numbers = (found.max_abs, found.max_rel, found.tolerance, found.basis)
    if found.differences:
        return Equality("different", found.differences[0], *numbers)
    if found.opaque and not found.compared:
        return Equality("unknown", f"only objects came back: {found.opaque[0]}")
    told = [f"not compared: {', '.join(found.opaque[:3])}"] if found.opaque else []
    told += [f"moved: {', '.join(found.moved[:3])}"] if found.moved else []
    return Equality("identical" if found.exact else "close", "; ".join(told), *numbers)


def _compare(
    expected: Snapshot, actual: Snapshot, truth: Snapshot | None, path: str, found: Findings
) -> None:
    match expected, actual:
        case TensorLeaf(), TensorLeaf():
            _compare_tensors(expected, actual, truth, path, found)
        case Plain(one), Plain(other):
            _compare_plain(one, other, truth, path, found)
        case Raised(), Raised():
            found.compared += 1
            if expected != actual:
                found.differences.append(f"{path}: {_text(expected)}, then {_text(actual)}")
        case Nest(), Nest():
            _compare_nests(expected, actual, truth, path, found)
        case Opaque(one), Opaque(other) if one == other:
            found.opaque.append(f"{path} ({one})")
        case _:
            found.differences.append(f"{path}: {_text(expected)}, then {_text(actual)}")


def _compare_nests(
    expected: Nest, actual: Nest, truth: Snapshot | None, path: str, found: Findings
) -> None:
    keys, other_keys = [k for k, _ in expected.parts], [k for k, _ in actual.parts]
    if expected.kind != actual.kind or keys != other_keys:
        found.differences.append(f"{path}: {_text(expected)}, then {_text(actual)}")
        return
    if not keys:
        found.compared += 1
    true = dict(truth.parts) if isinstance(truth, Nest) else {}
    for (key, one), (_, other) in zip(expected.parts, actual.parts, strict=True):
        _compare(one, other, true.get(key), f"{path}[{key!r}]", found)


def _compare_plain(
    expected: object, actual: object, truth: Snapshot | None, path: str, found: Findings
) -> None:
    found.compared += 1
    if type(expected) is not type(actual):
        found.differences.append(f"{path}: {expected!r}, then {actual!r}")
        return
    if expected == actual or (expected != expected and actual != actual):  # noqa: PLR0124 - NaN
        return
    if isinstance(expected, float) and isinstance(actual, float):
        one, other = (torch.tensor(v, dtype=torch.float32) for v in (expected, actual))
        true = truth.value if isinstance(truth, Plain) and found.same_draws else None
        wide = torch.tensor(true, dtype=torch.float64) if isinstance(true, float) else None
        compare_values(one, other, wide, path, found)
        return
    found.differences.append(f"{path}: {expected!r}, then {actual!r}")


def _compare_tensors(
    expected: TensorLeaf, actual: TensorLeaf, truth: Snapshot | None, path: str, found: Findings
) -> None:
    found.compared += 1
    for what, one, other in _properties(expected, actual):
        if one != other and what == "device" and _may_move(expected, found):
            found.moved.append(f"{path} from {one} to {other}")
        elif one != other:
            found.differences.append(f"{path}: {what} {one}, then {other}")
            return
    true = truth.values if isinstance(truth, TensorLeaf) else None
    compare_values(expected.values, actual.values, true, path, found)


def _properties(one: TensorLeaf, other: TensorLeaf) -> Iterator[tuple[str, object, object]]:
    yield "shape", tuple(one.values.shape), tuple(other.values.shape)
    yield "dtype", one.values.dtype, other.values.dtype
    yield "device", one.device, other.device
    yield "requires_grad", one.requires_grad, other.requires_grad


def _may_move(value: TensorLeaf, found: Findings) -> bool:
    """An optimizer keeps its count of steps on the CPU; a compiled one has it on the GPU."""
    return found.part == "optimizer" and value.values.ndim == 0


def _top(value: Snapshot) -> float:
    """The largest magnitude in all of a nested value."""
    match value:
        case TensorLeaf(values) if values.is_floating_point():
            return largest(values)
        case Nest(_, parts):
            return max((_top(part) for _, part in parts), default=0.0)
    return 0.0


def _text(value: Snapshot) -> str:
    match value:
        case TensorLeaf(values):
            return f"a tensor {tuple(values.shape)} of {values.dtype}"
        case Plain(plain):
            return repr(plain)
        case Raised(kind, message):
            return f"{kind}: {message.splitlines()[0] if message else ''}"
        case Nest(kind, parts):
            return f"{kind} with {len(parts)} parts"
        case Opaque(kind):
            return kind

"""``api.json``: what torch's functions, methods and classes give.

The table holds what torch's stubs, schemas and annotations say, and what calling torch on small
samples shows.
"""

from __future__ import annotations

import json
from typing import Any

import torch

from scripts.torch_facts import (
    autocast,
    behaviour,
    classes,
    effects,
    numbers,
    operations,
    pointwise,
    returns,
    sampled,
)
from scripts.torch_facts.annotations import Annotations


def build() -> dict[str, Any]:
    """All tables, as plain data."""
    torch.set_num_threads(1)
    reader = Annotations(returns.named_tuples())
    methods, attributes = returns.tensor_members(reader)
    functions = returns.functions(reader)
    probed = behaviour.operations(_tensors(methods), _tensors(functions))
    calls, by_form = sampled.sampled(probed), pointwise.pointwise(probed)
    of_one = {key: one for key, one in probed.items() if "t" in by_form.get(key, "").split()}
    return {
        "torch": ".".join(torch.__version__.split(".")[:2]),
        "attributes": attributes,
        "autocast": autocast.autocast(probed),
        "effects": effects.effects(calls),
        "functions": functions,
        "gradients": effects.gradients(of_one),
        "methods": methods,
        "modules": classes.modules(reader),
        "numbers": numbers.numbers(methods, functions),
        "operations": operations.operations(calls),
        "optimizers": classes.optimizers(),
        "pointwise": by_form,
        "schedulers": classes.schedulers(),
        "tensor_lr": classes.tensor_lr(),
    }


def carried_on(committed: dict[str, Any], built: dict[str, Any]) -> dict[str, Any]:
    """The tables that were built, and of those before what the newest torch has no more.

    Older releases, for which tclint still speaks, have it.
    """
    return {
        section: {**committed[section], **table} if isinstance(table, dict) else table
        for section, table in built.items()
    }


def _tensors(table: dict[str, str]) -> list[str]:
    return [name for name, code in table.items() if "tensor" in code.split("|")]


def text(table: dict[str, Any]) -> str:
    """The table as stable JSON: one line a section, so that diffs name what changed."""
    sections = (
        f"{json.dumps(name)}: {json.dumps(table[name], sort_keys=True, separators=(',', ':'))}"
        for name in sorted(table)
    )
    return "{\n" + ",\n".join(sections) + "\n}\n"

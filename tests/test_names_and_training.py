"""Names of torch and calls of training loops, wherever a file has them."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from tclint.config import Config, Settings
from tclint.fix.apply import fix_files
from tclint.lint.engine import check_files


def found(
    text: str, folder: Path, *codes: str, target: tuple[int, int] = (2, 13)
) -> list[tuple[str, int]]:
    """Code and row of every finding."""
    path = folder / "program.py"
    path.write_text(dedent(text).lstrip("\n"), encoding="utf-8")
    config = Config(folder, select=codes, weak=True, settings=Settings(target_torch=target))
    run = check_files([path], config)
    assert not run.errors
    return [(r.diagnostic.code, r.diagnostic.span.start.row) for r in run.results]


@pytest.mark.parametrize(
    "use",
    [
        "import torch\nx = torch.cuda.amp.autocast()\n",
        "from torch.cuda.amp import autocast\nx = autocast()\n",
        "from torch.cuda import amp\nx = amp.autocast()\n",
        "import torch.cuda.amp as mixed\nx = mixed.autocast()\n",
        "from torch import cuda\nx = cuda.amp.autocast()\n",
        "from torch import cuda as gpu\nx = gpu.amp.autocast()\n",
        "import torch as th\nx = th.cuda.amp.autocast()\n",
        "from torch.cuda.amp import autocast as cast\n\n\nclass A:\n    x = cast()\n",
        "import torch\n\n\n@torch.cuda.amp.autocast()\ndef f(x):\n    return x\n",
        "import torch\n\n\n@torch.cuda.amp.custom_fwd\ndef f(x):\n    return x\n",
    ],
)
def test_a_deprecated_name_is_found_by_every_spelling(use: str, tmp_path: Path) -> None:
    assert [code for code, _ in found(use, tmp_path, "TCL420")] == ["TCL420"]


OLDER = "import torch\n\n\ndef f():\n"
SCALER = "torch.cuda.amp.GradScaler()"


@pytest.mark.parametrize(
    "use",
    [
        "from torch.cuda.amp import autocast\n",
        "import torch\n\n\ndef f(scaler: torch.cuda.amp.GradScaler) -> None: ...\n",
        "import torch\n\n\ndef f(s):\n    return isinstance(s, torch.cuda.amp.GradScaler)\n",
        "from mine import autocast\nx = autocast()\n",
        "import torch\n\n\ndef f(torch):\n    return torch.cuda.amp.autocast()\n",
        "import torch\ntry:\n    x = 1\nexcept OSError:\n    x = torch.cuda.amp.autocast()\n",
        "import torch\nif torch.__version__ < '2.4':\n    x = torch.cuda.amp.autocast()\n",
        "import torch\nx = 1 if NEW_2_4 else torch.cuda.amp.GradScaler()\n",
        f"{OLDER}    if NEW:\n        return torch.amp.GradScaler()\n    return {SCALER}\n",
        f"{OLDER}    if hasattr(torch.amp, 'GradScaler'):\n        return\n    {SCALER}\n",
    ],
)
def test_who_supports_an_older_torch_is_left_alone(use: str, tmp_path: Path) -> None:
    assert found(use, tmp_path, "TCL420") == []


def test_an_older_target_has_no_better_name(tmp_path: Path) -> None:
    use = "import torch\nx = torch.cuda.amp.autocast()\n"
    assert found(use, tmp_path, "TCL420", target=(2, 3)) == []
    assert found(use, tmp_path, "TCL420", target=(2, 4)) == [("TCL420", 2)]


@pytest.mark.parametrize(
    ("name", "target", "known"),
    [
        ("torch._dynamo.config.skip_fsdp_hooks", (2, 6), True),
        ("torch._dynamo.config.skip_fsdp_hooks", (2, 13), False),
        ("torch._dynamo.config.gc_gen2_threshold_during_compile", (2, 13), False),
        ("torch._dynamo.config.gc_gen2_threshold_during_compile", (2, 15), True),
        ("torch._dynamo.config.cache_size_limit", (2, 13), True),
        ("torch._inductor.config.triton.cudagraphs", (2, 13), True),
        ("torch._inductor.config.patch", (2, 15), True),
        ("torch._functorch.config.donated_bufer", (2, 13), False),
    ],
)
def test_a_setting_is_known_to_the_torch_that_has_it(
    name: str, target: tuple[int, int], known: bool, tmp_path: Path
) -> None:
    text = f"import torch\nvalue = {name}\n"
    assert (found(text, tmp_path, "TCL424", target=target) == []) is known


TRAINING = """
    import torch

    def train(model, optimizer, batches):
        total = 0.0
        optimizer.zero_grad(set_to_none=False)
        for x in batches:
            loss = model(x).mean()
            {call}
            loss.backward()
            optimizer.step()
        return total
"""


@pytest.mark.parametrize(
    ("call", "codes"),
    [
        ("optimizer.zero_grad(set_to_none=False)", ["TCL505"]),
        ("optimizer.zero_grad(set_to_none=True)", []),
        ("clip_grad_norm_(model.parameters(), 1.0, error_if_nonfinite=True)", ["TCL504"]),
        ("clip_grad_norm_(model.parameters(), 1.0)", []),
        ("total += loss.item()", ["TCL511"]),
        ("total += x.item()", []),
        ("total = loss.item()", []),
        ("total += loss.item() if x is None else 0", []),
        ("if x is None: total += loss.item()", []),
        ("for y in x: total += loss.item()", []),
    ],
)
def test_only_what_every_step_does_counts(call: str, codes: list[str], tmp_path: Path) -> None:
    text = TRAINING.format(call=call)
    assert [code for code, _ in found(text, tmp_path, "TCL504", "TCL505", "TCL511")] == codes


def test_a_loop_without_backward_is_no_training(tmp_path: Path) -> None:
    text = TRAINING.format(call="optimizer.zero_grad(set_to_none=False)")
    assert found(text.replace("loss.backward()", "pass"), tmp_path, "TCL505") == []


COMPILED = """
    import torch

    def step(x):
        return x * 2

    def run(model, items, mode):
{body}
"""


@pytest.mark.parametrize(
    ("body", "codes"),
    [
        (["for x in items:", "    torch.compile(step)(x)"], ["TCL412"]),
        (["while items:", "    g = torch.compile(model)", "    g(items.pop())"], ["TCL412"]),
        (["for x in items:", "    x.layer = torch.compile(x.layer)"], []),
        (["for m in items:", "    torch.compile(step, mode=m)(model)"], []),
        (["for x in items:", "    if x:", "        model = torch.compile(step)"], []),
        (["for x in items:", "    def g(y):", "        return y", "    torch.compile(g)(x)"], []),
        (["for x in items:", "    return torch.compile(step)(x)"], []),
        (["for x in items:", "    model = mode(model)", "    torch.compile(model)(x)"], []),
        (["for x in items:", "    torch.compile(mode())(x)"], []),
        (["for x in items:", "    torch.compiler.reset()", "    torch.compile(step)(x)"], []),
    ],
)  # fmt: skip
def test_compiling_in_a_loop_counts_where_it_is_the_same_each_time(
    body: list[str], codes: list[str], tmp_path: Path
) -> None:
    text = COMPILED.format(body="\n".join(f"        {line}" for line in body))
    assert [code for code, _ in found(text, tmp_path, "TCL412")] == codes


@pytest.mark.parametrize(
    ("body", "codes"),
    [
        (["model = torch.compile(model)"], ["TCL414"]),
        (["g = torch.compile(model)", "return model"], ["TCL414"]),
        (["model = torch.compile(model)", "return model"], []),
        (["model = torch.compile(model)", "for x in items:", "    model(x)"], []),
        (["for x in items:", "    model(x)", "    model = torch.compile(model)"], []),
        (["global step", "step = torch.compile(model)"], []),
        (["model = torch.compile(model)", "return locals()"], []),
        (["model = torch.compile(model)", "return lambda x: model(x)"], []),
    ],
)
def test_a_result_counts_as_used_wherever_it_may_be_read(
    body: list[str], codes: list[str], tmp_path: Path
) -> None:
    text = COMPILED.format(body="\n".join(f"        {line}" for line in body))
    assert [code for code, _ in found(text, tmp_path, "TCL414")] == codes


@pytest.mark.parametrize(
    ("use", "code", "reason"),
    [
        ("x = torch.cuda.amp.custom_fwd(print)\n", "TCL420", "a function to wrap"),
        ("x = torch.cuda.amp.autocast(**{})\n", "TCL420", "the call uses `*args`"),
        ("x = torch._dynamo.disable(print, wrapping=False)\n", "TCL421", "`wrapping`"),
        ("x = torch._dynamo.optimize('eager', True)(print)\n", "TCL423", "by position"),
        ("x = torch._dynamo.explain(f=print, x=1)\n", "TCL422", "which argument is the function"),
    ],
)
def test_what_cannot_be_renamed_says_why(use: str, code: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(f"import torch\n{use}", encoding="utf-8")
    (result,) = check_files([path], Config(tmp_path, select=(code,))).results
    assert result.diagnostic.declined is not None
    assert reason in result.diagnostic.declined.reason


def test_an_imported_setting_is_not_renamed(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text("from torch._dynamo.config import supress_errors\nx = supress_errors\n")
    (result,) = check_files([path], Config(tmp_path, select=("TCL424",))).results
    assert result.diagnostic.declined is not None
    assert "imported" in result.diagnostic.declined.reason


OPTIMIZER = """
    import torch

    def main(model, rate):
        {compile}
        return torch.optim.{optimizer}
"""


@pytest.mark.parametrize(
    ("compile_call", "optimizer", "count"),
    [
        ("model = torch.compile(model)", "AdamW(model.parameters(), lr=rate)", 1),
        ("model = torch.compile(model)", "SGD(model.parameters(), rate)", 1),
        ("model = torch.compile(model)", "SGD(model.parameters(), rate, foreach=False)", 0),
        ("model = torch.compile(model)", "Adam(model.parameters(), **rate)", 0),
        ("model = torch.compile(model)", "RMSprop(model.parameters())", 0),
        ("model.compile()", "AdamW(model.parameters())", 0),
        ("pass", "AdamW(model.parameters())", 0),
    ],
)
def test_an_optimizer_is_asked_to_be_fused_where_the_model_is_compiled(
    compile_call: str, optimizer: str, count: int, tmp_path: Path
) -> None:
    text = OPTIMIZER.format(compile=compile_call, optimizer=optimizer)
    assert len(found(text, tmp_path, "TCL507")) == count


OLD = "from torch.cuda.amp import autocast"
MANY = """\
import torch
from torch.cuda.amp import (
    GradScaler,
    autocast,
)

x = autocast()
y: GradScaler
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"import torch\n{OLD}\n\nx = autocast()\n", "import torch\n\nx = {new}\n"),
        (f"{OLD}\n\nx = autocast()\n", "import torch\n\nx = {new}\n"),
        (
            MANY,
            "import torch\nfrom torch.cuda.amp import GradScaler\n\nx = {new}\ny: GradScaler\n",
        ),
        (f"import torch\n{OLD} as cast\n\nx = cast()\n", "import torch\n\nx = {new}\n"),
        (
            f"import torch\n{OLD}\n\nx = autocast()\ny = autocast()\n",
            "import torch\n\nx = {new}\ny = {new}\n",
        ),
    ],
    ids=["alone", "the only import", "among others", "under another name", "several uses"],
)
def test_an_import_goes_with_its_last_use(before: str, after: str, tmp_path: Path) -> None:
    assert fixed(before, tmp_path / "program.py") == after.format(new='torch.amp.autocast("cuda")')


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (f"import torch\n{OLD}  # noqa: F401\n\nx = autocast()\n", "program.py"),
        (f'import torch\n{OLD}\n\n__all__ = ["autocast"]\nx = autocast()\n', "program.py"),
        (f"import torch\n{OLD}\n\nx = autocast()\n", "__init__.py"),
        (f"import torch\n{OLD}\n\nx = autocast()\n\n\ndef f(x: autocast): ...\n", "program.py"),
    ],
    ids=["a comment", "__all__", "a package", "an annotation"],
)
def test_an_import_that_others_may_need_stays(text: str, name: str, tmp_path: Path) -> None:
    after = fixed(text, tmp_path / name)
    assert OLD in after
    assert 'torch.amp.autocast("cuda")' in after


def fixed(text: str, path: Path) -> str:
    path.write_text(text, encoding="utf-8")
    run = fix_files([path], Config(path.parent, select=("TCL420",)), unsafe=True)
    return run.changed[0].after


@pytest.mark.parametrize(
    ("optimizer", "codes"),
    [
        ("AdamW(model.parameters())", ["TCL507"]),
        ("AdamW(model.parameters(), fused=True)", []),
        ("AdamW(model.parameters(), foreach=False)", ["TCL503"]),
        ("SGD(model.parameters(), rate, foreach=False)", ["TCL503"]),
        ("SGD(model.parameters(), rate)", ["TCL507"]),
    ],
)
def test_an_optimizer_of_a_model_on_a_device_is_asked_too(
    optimizer: str, codes: list[str], tmp_path: Path
) -> None:
    text = OPTIMIZER.format(compile="model.to('cuda')", optimizer=optimizer)
    path = tmp_path / "train.py"
    path.write_text(dedent(text), encoding="utf-8")
    run = check_files([path], Config(tmp_path, select=("TCL503", "TCL507")))
    assert [result.diagnostic.code for result in run.results] == codes


@pytest.mark.parametrize(
    "imported",
    ["from torch.optim import Adam", "from torch.optim import (\n    SGD,\n    Adam,  # ours\n)"],
)
def test_an_optimizer_that_only_its_class_names_is_seen(imported: str, tmp_path: Path) -> None:
    path = tmp_path / "trainer.py"
    source = f"""{imported}

class Trainer:
    def __init__(self, model):
        self.device = "cuda"
        self.opt = Adam(model.parameters(), lr=1e-3)
"""
    path.write_text(source, encoding="utf-8")
    run = check_files([path], Config(tmp_path, select=("TCL507",)))
    assert [result.diagnostic.code for result in run.results] == ["TCL507"]


SPREAD = """\
import torch


def make(model, rate, eps, **given):
    model.to("cuda")
    options = {made}
    {added}
    return torch.optim.AdamW(model.parameters(), **{passed})
"""


@pytest.mark.parametrize(
    ("made", "added", "passed", "told"),
    [
        ("dict(lr=rate)", "options['eps'] = eps", "options", True),
        ("{'lr': rate}", "if 'eps' in options: print(options['eps'])", "options", True),
        ("None", "", "{'lr': rate, 'eps': eps}", True),
        ("dict(lr=rate, fused=True)", "", "options", False),
        ("dict(lr=rate)", "options['fused'] = eps > 0", "options", False),
        ("dict(lr=rate)", "options.setdefault('eps', eps)", "options", True),
        ("dict(lr=rate)", "options.setdefault('fused', eps > 0)", "options", False),
        ("dict(lr=rate)", "options.setdefault(eps, True)", "options", False),
        ("dict(lr=rate)", "options.update(given)", "options", False),
        ("dict(lr=rate)", "options[eps] = True", "options", False),
        ("dict(given)", "", "options", False),
        ("{**given}", "", "options", False),
        ("dict(lr=rate)", "options = options | given", "options", False),
        ("dict(lr=rate)", "fill(options)", "options", False),
        ("None", "", "given", False),
    ],
)
def test_a_dict_of_options_chooses_an_implementation_or_none(
    made: str, added: str, passed: str, told: bool, tmp_path: Path
) -> None:
    path = tmp_path / "train.py"
    path.write_text(SPREAD.format(made=made, added=added, passed=passed), encoding="utf-8")
    run = fix_files([path], Config(tmp_path, select=("TCL507",)), unsafe=True)
    assert ["fused=True" in one.after.partition("AdamW")[2] for one in run.changed] == [True] * told

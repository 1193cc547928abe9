"""The form of a finding: a headline, what to do instead, why, and its page."""

from __future__ import annotations

import ast
import re
from functools import cache
from html import unescape
from typing import TYPE_CHECKING

import pytest

from tclint.agents.answers import findings
from tclint.config import Config, Settings
from tclint.diagnostics import Applicability
from tclint.lint.claims import newest_of
from tclint.lint.engine import Result, Run, check_files
from tclint.lint.headline import LONGEST, NAME, headline
from tclint.lint.registry import known_rules, load_rules
from tclint.lint.rule import PRELUDE, Bad, Rule, Untouched
from tclint.report.formats import OutputFormat, render
from tclint.report.record import record
from tclint.report.told import told, why
from tclint.report.view import View
from tclint.server.convert import _message
from tclint.testing import examples_of

from .proof.cases import compiles_itself

if TYPE_CHECKING:
    from pathlib import Path

RULES = [pytest.param(rule, id=rule.code) for rule in load_rules()]
QUOTED = re.compile(r"`([^`]*)`")
HEADLINES_ALONE = {OutputFormat.CONCISE}


def results_of(rule: Rule, folder: Path) -> list[tuple[str, Result]]:
    """The code of each example that the rule is to report, with what it says of it."""
    found = []
    for number, example in enumerate(examples_of(rule)):
        if not isinstance(example, Bad | Untouched):
            continue
        path = folder / f"example_{number}.py"
        path.write_text(PRELUDE + example.code, encoding="utf-8")
        compiled = () if compiles_itself(example.code) else ("*:f",)
        settings = Settings(target_torch=newest_of(example.torch))
        config = Config(folder, select=(rule.code,), compiled=compiled, settings=settings)
        results = check_files([path], config).results
        found += [(example.code, result) for result in results]
    return found


@cache
def own_names(code: str) -> frozenset[str]:
    """The names that an example gives to what is its own."""
    names = set()
    for node in ast.walk(ast.parse(code)):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                names.add(name)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
    return frozenset(names)


def with_long_names(message: str, code: str) -> int:
    """How long a headline is where quoted code that holds the example's names has 20 characters."""

    def quoted(match: re.Match[str]) -> str:
        words = set(re.findall(r"\w+", match[1])) - {"bool", "assert"}
        return f"`{'x' * NAME}`" if words & own_names(code) else match[0]

    return len(QUOTED.sub(quoted, message))


@pytest.mark.parametrize("rule", RULES)
def test_every_finding_says_what_happens_and_what_to_do_instead(rule: Rule, tmp_path: Path) -> None:
    found = results_of(rule, tmp_path)
    assert found
    for code, result in found:
        diagnostic = result.diagnostic
        assert max(len(diagnostic.message), with_long_names(diagnostic.message, code)) <= LONGEST
        assert diagnostic.message[0].isupper() or diagnostic.message[0] in "`\"'0123456789t"
        assert diagnostic.instead.strip() == diagnostic.instead
        assert diagnostic.instead[0].isupper() or diagnostic.instead[0] == "`", diagnostic.instead
        assert "\n" not in diagnostic.instead
        assert not diagnostic.instead.endswith(".")
        assert "settings" not in diagnostic.instead.split()
        one = told(result)
        assert one.why
        assert one.page.startswith(f"`tclint rule {rule.code}`")


def test_every_rule_says_what_to_do_instead() -> None:
    for rule in known_rules():
        assert rule.instead
        assert rule.instead[0].isupper()
        assert not rule.instead.endswith(".")
        assert why(rule.code)


@pytest.mark.slow(60)
@pytest.mark.parametrize("rule", RULES)
def test_all_formats_say_the_same(rule: Rule, tmp_path: Path) -> None:
    results = [result for _, result in results_of(rule, tmp_path)]
    run = Run(tuple(results), (), len(results))
    for output_format in OutputFormat:
        # Escapes and markup aside, each report has the same words.
        text = plain(render(output_format, run, View(tmp_path, rules=known_rules())))
        for result in results:
            one = told(result)
            assert plain(one.headline) in text
            assert one.code in text
            if output_format not in HEADLINES_ALONE:
                assert plain(result.diagnostic.instead) in text
                assert plain(one.why) in text
    for result in results:
        shown = _message(result.diagnostic)
        assert shown == f"{result.diagnostic.message}\nInstead: {result.diagnostic.instead}"
        [row] = findings([record(result)], tmp_path, 1)["findings"]
        assert row["instead"] == result.diagnostic.instead


def plain(text: str) -> str:
    """The words of a report: without markup, escapes and the marks of code."""
    for escaped, meant in (("%25", "%"), ("%0A", " "), ('\\"', '"'), ("\\\\", "\\"), ("\\n", " ")):
        text = text.replace(escaped, meant)
    text = re.sub(r"\\u([0-9a-f]{4})", lambda code: chr(int(code[1], 16)), text)
    text = unescape(re.sub(r"</?(code|b|p|span|article|h3)[^>]*>", " ", text))
    return " ".join(re.sub(r"[`\s]+", " ", text).split())


def sources(results: list[Result]) -> str:
    """The checked code itself, which reports show lines of."""
    return " ".join(result.file.text for result in results)


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("`x` breaks the graph", "`x` breaks the graph"),
        ("`f(\n  x)` breaks", "`f( x)` breaks"),
        (f"`{'a' * 90}` breaks the graph", f"`{'a' * 78}...` breaks the graph"),
        (
            f"`{'a' * 60}` is read by `{'b' * 60}`: the graph breaks",
            f"`{'a' * 17}...` is read by `{'b' * 43}...`: the graph breaks",
        ),
        ("it breaks the graph " * 6, ("it breaks the graph " * 6).strip()),
        (f"`{'a' * 18}` " + "and so on " * 9, f"`{'a' * 5}...` " + ("and so on " * 9).strip()),
    ],
)
def test_long_names_are_shortened_and_nothing_else(message: str, shown: str) -> None:
    assert headline(message) == shown


PROGRAMS = {
    "groups of tokens": """\
class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.router = nn.Linear(8, 4)
        self.experts = nn.ModuleList(nn.Linear(8, 8) for _ in range(4))

    def forward(self, x):
        choice = self.router(x).argmax(-1)
        order = choice.argsort()
        counts = torch.bincount(choice, minlength=4).tolist()
        parts = x[order].split(counts)
        return torch.cat([expert(part) for expert, part in zip(self.experts, parts)])


model = torch.compile(Experts())
""",
    "an early exit": """\
class Halting(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.Linear(8, 8)

    def forward(self, x: torch.Tensor):
        done = torch.zeros(len(x), dtype=torch.bool, device=x.device)
        for _ in range(6):
            x = torch.tanh(self.cell(x))
            done = done | (x.norm(dim=-1) > 3)
            if done.all():
                break
        return x


model = torch.compile(Halting())
""",
    "molecules of a batch": """\
def total(x, index):
    out = x.new_zeros(int(index[-1].item()) + 1, x.shape[1])
    return out.index_add(0, index, x)


class Energy(nn.Module):
    def forward(self, x: torch.Tensor, index: torch.Tensor):
        return total(x, index) / torch.bincount(index)[:, None]


model = torch.compile(Energy())
""",
    "a random gate": """\
class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(8, 8) for _ in range(3))

    def forward(self, x: torch.Tensor):
        for layer in self.layers:
            if torch.rand(()) < 0.2:
                continue
            x = layer(x)
        return x


model = torch.compile(Gate())
""",
    "a surrogate gradient": """\
class Spike(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return (x > 0).to(x.dtype)

    @staticmethod
    def backward(ctx, grad: torch.Tensor):
        (x,) = ctx.saved_tensors
        if grad.abs().max() == 0:
            return grad
        return grad / (1 + x.abs()) ** 2


@torch.compile
def step(x: torch.Tensor):
    return Spike.apply(x).sum()
""",
    "an exported model": """\
class Rope(nn.Module):
    def forward(self, x: torch.Tensor, positions: torch.Tensor):
        if positions.max() > 64:
            return x * 0.5
        return x[: int(positions.max())]


program = torch.export.export(Rope(), (torch.ones(4, 8), torch.arange(4)))
""",
    "a mask of what is valid": """\
@torch.compile
def loss(x: torch.Tensor, y: torch.Tensor, valid: torch.Tensor):
    if not valid.any():
        return x.sum() * 0
    kept = x[valid] - y[valid]
    return kept.pow(2).sum() / valid.sum().item()
""",
    "a step that reads its norm": """\
@torch.compile
def step(model, optimizer, x: torch.Tensor):
    loss = model(x).pow(2).mean()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    if norm > 10:
        return None
    return loss.item()
""",
    "an index in a cache": """\
class Cache(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("keys", torch.zeros(4, 64, 8))
        self.register_buffer("filled", torch.zeros((), dtype=torch.long))

    def forward(self, x: torch.Tensor):
        end = self.filled + x.shape[1]
        self.keys[:, self.filled : end] = x
        self.filled.copy_(end)
        return self.keys[:, :end]


model = torch.compile(Cache())
""",
    "lengths of sequences": """\
@torch.compile
def pad(x: torch.Tensor, lengths: torch.Tensor):
    longest = max(lengths.tolist())
    rows = torch.repeat_interleave(torch.arange(len(lengths)), lengths)
    places = (x > 0).nonzero()
    return x[:, :longest], rows, places, x.unique()
""",
}
"""Programs as people post them, whose values vary by their nature."""
HEAD = "import torch\nfrom torch import nn\n\n\n"


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_varies_by_its_nature_is_shown_with_what_to_do(name: str, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(HEAD + PROGRAMS[name])
    run = check_files([path], Config(tmp_path, weak=True))
    assert run.results
    for output_format in OutputFormat:
        shown = render(output_format, run, View(tmp_path, rules=known_rules()))
        if output_format in {OutputFormat.FULL, OutputFormat.GITHUB}:
            assert shown.lower().count("instead") >= len(run.results)
    for result in run.results:
        is_fixed = result.diagnostic.fixable in {Applicability.SAFE, Applicability.UNSAFE}
        assert is_fixed or result.diagnostic.declined or result.diagnostic.instead

"""Why a line is reported, or is not: what ``--explain-types`` answers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tclint.cli.explain_types import lines
from tclint.config import Config
from tclint.lint.why import Answer, why
from tests.semantics_probe import put

NET = """\
import torch
from torch import nn


class Base(nn.Module):
    def forward(self, x, mask=None, flag=False):
        if flag:
            print(x)
        y = self.scale(x)
        z = torch.cat(
            [x],
            # both of them
        )
        if self is None:
            return y
        return torch.relu(
            z
        )
        print(z)

    @torch.compiler.disable
    def kept(self, x):
        return x.item()

    def unused(self, x):
        return x.item()

    def outer(self, x):
        def inner(y):
            return y.item()

        return inner(x)


class Plain:
    def forward(self, x):
        return x.item()

    def scale(self, x):
        return x.item()


def helper(x):
    for _ in ():
        print(x)
    assert x.sum() > 0
    raise ValueError(f"{x.item()}")


def step(x):
    return helper(x)


def train(model):
    loss = plain(3)
    return torch.compile(step)


def plain(x):
    "what it does"

    return x
"""


def about(folder: Path, text: str, code: str = NET, config: Config | None = None) -> Answer:
    """The answer about the first line that begins with a text."""
    put(folder, {"net.py": code})
    rows = [line.strip() for line in code.splitlines()]
    row = next(at for at, line in enumerate(rows, 1) if line.startswith(text))
    file = folder / "net.py"
    answer = why([file], config or Config(folder), {}, file, row)
    assert answer is not None
    return answer


def reasons(folder: Path, text: str, code: str = NET, config: Config | None = None) -> list[str]:
    """Why nothing compiled comes to a line."""
    where = about(folder, text, code, config).where
    assert not where.is_reached
    return [*where.reasons(folder / "net.py")]


@pytest.mark.parametrize("text", ["[x],", "# both of them", ")"])
def test_each_line_of_a_call_is_in_its_region(tmp_path: Path, text: str) -> None:
    answer = about(tmp_path, text)
    assert answer.where.is_reached
    assert [way.region for way in answer.where.ways] == ["Base.forward"]
    assert answer.expressions


def test_a_region_says_where_it_is_compiled_and_how_it_is_reached(tmp_path: Path) -> None:
    [way] = about(tmp_path, "assert").where.ways
    assert way.region == "step"
    assert way.place is not None
    assert (way.place.function, way.place.row) == ("train", 56)
    assert [(link.function, link.row) for link in way.chain] == [("step", 51)]


def test_a_region_that_the_configuration_names_says_so(tmp_path: Path) -> None:
    config = Config(tmp_path, compiled=("net:plain",))
    [way] = about(tmp_path, "def plain", config=config).where.ways
    assert way.because == "the configuration names it in `compiled`"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("class Base", "a class body runs once, when it is imported"),
        ("import torch", "the top level of the file runs once, when it is imported"),
        ("", "nothing is run on this line"),
        ('"what it does"', "nothing is run on this line"),
        ("def kept", "`torch.compiler.disable` keeps `Base.kept` out of compiled code"),
        ("def unused", "no compiled code is seen to call `Base.unused`"),
        ("def inner", "it is inside of `Base.outer`, which is in no region"),
        ("class Plain", "a class body runs once, when it is imported"),
    ],
)
def test_a_line_in_no_region_says_why(tmp_path: Path, text: str, reason: str) -> None:
    code = NET if text else NET.replace("class Base", "\n\nclass Base")
    put(tmp_path, {"net.py": code})
    row = next(
        at
        for at, line in enumerate(code.splitlines(), 1)
        if (line.strip().startswith(text) if text else not line.strip())
    )
    file = tmp_path / "net.py"
    answer = why([file], Config(tmp_path), {}, file, row)
    assert answer is not None
    assert not answer.where.is_reached
    assert next(answer.where.reasons(file)) == reason


def test_the_forward_of_what_is_no_module_says_so(tmp_path: Path) -> None:
    code = NET[NET.index("class Plain") :]
    [reason] = reasons(tmp_path, "return x.item()", code)
    assert reason == "`Plain` is not known to be a `torch.nn.Module`"


def test_a_module_is_no_region_where_only_what_is_compiled_counts(tmp_path: Path) -> None:
    config = Config(tmp_path, scope="compiled")
    [reason] = reasons(tmp_path, "y = self.scale", config=config)
    assert reason.startswith('with `scope = "compiled"` only what a `torch.compile` in the files')


def test_what_sets_objects_up_is_in_no_region(tmp_path: Path) -> None:
    code = "class Net:\n    def __init__(self, x):\n        self.x = x.item()\n"
    [reason] = reasons(tmp_path, "self.x", code)
    assert reason == "`Net.__init__` sets objects up, in eager mode: no compiled code makes a `Net`"


@pytest.mark.parametrize(
    ("caller", "said"),
    [
        ("def train(x):\n    helper(x)\n", "`train` calls `helper`, and is in no region itself"),
        ("helper(3)\n", "the top level of the file calls `helper`, in eager mode"),
        (
            "@torch.compile\ndef step(x):\n    return x\n    helper(x)\n",
            "`step` calls `helper` in code that is never reached",
        ),
        (
            "@torch.compile\ndef step(x):\n    hooks.append(helper)\n",
            "`step` passes it on, and where it goes is not followed",
        ),
    ],
)
def test_who_names_a_function_is_told(tmp_path: Path, caller: str, said: str) -> None:
    code = f"import torch\nhooks = []\n\n\ndef helper(x):\n    return x.item()\n\n\n{caller}"
    first, place, *_ = reasons(tmp_path, "return x.item()", code)
    assert first == "no compiled code is seen to call `helper`"
    assert said in place


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "return y",
            "the condition in line 14 is never true: `self is None` is treated as constant",
        ),
        ("print(z)", "the code ends before it, with `return` in line 16"),
    ],
)
def test_dead_code_in_a_region_says_why(tmp_path: Path, text: str, reason: str) -> None:
    assert about(tmp_path, text).where.ways
    assert reasons(tmp_path, text)[0].startswith(reason)


def test_code_behind_branches_that_all_leave_says_so(tmp_path: Path) -> None:
    code = (
        "import torch\n\n\n@torch.compile\ndef f(x, n: int):\n    if n:\n        return x\n"
        "    else:\n        return -x\n    print(x)\n"
    )
    [reason] = reasons(tmp_path, "print(x)", code)
    assert reason.startswith("the code ends before it: every branch of the `if` in line 6")


@pytest.mark.parametrize(
    ("line", "config", "silent"),
    [
        ("x.item()", {}, ""),
        ("x.item()  # noqa: TCL101", {}, "the comment in line 6 silences it"),
        ("x.item()", {"ignore": ("TCL1",)}, "`select` and `ignore` leave the rule out"),
        (
            "x.item()",
            {"per_file_ignores": (("net.py", ("TCL101",)),)},
            "`per-file-ignores` in the configuration silences it",
        ),
    ],
)
def test_what_keeps_a_finding_from_being_shown_is_told(
    tmp_path: Path, line: str, config: dict[str, object], silent: str
) -> None:
    code = f"import torch\n\n\n@torch.compile\ndef f(x):\n    return {line}\n"
    answer = about(tmp_path, "return", code, replace(Config(tmp_path), **config))  # type: ignore[arg-type]
    [verdict] = [one for one in answer.verdicts if one.code == "TCL101"]
    assert verdict.message == "`x.item()` reads a tensor on the host: the graph breaks"
    assert verdict.silent == silent


def test_a_weak_finding_says_what_shows_it(tmp_path: Path) -> None:
    code = (
        "import torch\n\n\n@torch.compile\ndef f(x: torch.Tensor):\n"
        "    for row in x:\n        row + 1\n"
    )
    [verdict] = [one for one in about(tmp_path, "for row", code).verdicts if one.code == "TCL210"]
    assert verdict.silent == "its confidence is low: `--weak` shows it"


def test_rules_that_find_nothing_are_named(tmp_path: Path) -> None:
    code = "import torch\n\n\n@torch.compile\ndef f(x):\n    return torch.tensor(x.shape)\n"
    answer = about(tmp_path, "return", code)
    verdicts = {one.code: one for one in answer.verdicts}
    assert (verdicts["TCL311"].message, verdicts["TCL311"].silent) == ("", "it finds nothing")
    last = [*lines(answer, tmp_path / "net.py")][-1]
    assert "TCL311" in last
    assert last.endswith(" find nothing")


def test_a_finding_that_another_stands_for_says_which(tmp_path: Path) -> None:
    code = (
        "import torch\nimport logging\n\nlogger = logging.getLogger()\n\n\n@torch.compile\n"
        "def f(x):\n    logger.warning(x.sum().item())\n    return x\n"
    )
    verdicts = {one.code: one for one in about(tmp_path, "logger.w", code).verdicts if one.message}
    assert verdicts["TCL121"].silent == ""
    assert verdicts["TCL101"].silent == "TCL121 reports the call around it"


def test_a_line_that_no_rule_looks_at_is_told_apart(tmp_path: Path) -> None:
    code = "import torch\n\n\n@torch.compile\ndef f(x):\n    y = x\n    return y\n"
    answer = about(tmp_path, "y = x", code)
    assert (answer.verdicts, answer.quiet) == ((), ())
    assert [*lines(answer, tmp_path / "net.py")][-1] == (
        "no rule looks for what happens on this line"
    )


def test_another_function_of_the_same_name_is_not_meant(tmp_path: Path) -> None:
    put(tmp_path, {"other.py": "def helper(x):\n    pass\n\n\nhelper(1)\n"})
    code = "import torch\n\n\ndef helper(x):\n    return x.item()\n"
    put(tmp_path, {"net.py": code})
    file = tmp_path / "net.py"
    answer = why([file, tmp_path / "other.py"], Config(tmp_path), {}, file, 5)
    assert answer is not None
    assert [*answer.where.reasons(file)] == [
        "no compiled code is seen to call `helper`",
        "nothing in the files that were read names it",
    ]


def test_what_no_rule_is_asked_about_is_told(tmp_path: Path) -> None:
    [quiet, *_] = about(tmp_path, "raise").quiet
    assert (quiet.text, quiet.reason) == ("x.item()", "it is only run for an exception")


@pytest.mark.parametrize(
    ("parameter", "use", "evidence"),
    [
        ("x", "x + 1", ["for a tensor: a parameter with no annotation and no default"]),
        ("n=3", "n + x", ["against a tensor: `3` by default"]),
        ("mask=None", "mask", ["for a tensor: `None` by default, and named like a tensor"]),
        ("way=None", "way", ["against a tensor: `None` by default, and not named like a tensor"]),
        ("n: int", "n", ["against a tensor: annotated `int`"]),
        (
            "n",
            "x[:n]",
            [
                "for a tensor: a parameter with no annotation and no default",
                "against a tensor: used as the bound of a slice in line 6",
            ],
        ),
    ],
)
def test_what_speaks_for_a_tensor_and_against_it_is_told(
    tmp_path: Path, parameter: str, use: str, evidence: list[str]
) -> None:
    code = f"import torch\nx = 1\n\n@torch.compile\ndef f({parameter}):\n    return {use}\n"
    name = parameter.partition("=")[0].partition(":")[0]
    told = {one.text: one.evidence for one in about(tmp_path, "return", code).expressions}
    assert [*map(str, told[name])] == evidence


def test_what_a_parameter_is_passed_to_is_evidence(tmp_path: Path) -> None:
    code = (
        "import torch\n\n\ndef flag(meta):\n    return meta['flip']\n\n\n"
        "@torch.compile\ndef f(x, meta):\n    return flag(meta)\n"
    )
    told = {one.text: one.evidence for one in about(tmp_path, "return flag", code).expressions}
    assert [*map(str, told["meta"])] == [
        "for a tensor: a parameter with no annotation and no default",
        "against a tensor: a dict, by the docstring or by what it is passed to",
    ]


def test_a_receiver_is_no_evidence(tmp_path: Path) -> None:
    code = "class N(nn.Module):\n    def forward(self, x):\n        return self.n\n"
    code = f"from torch import nn\n\n\n{code}"
    told = {one.text: one.evidence for one in about(tmp_path, "return", code).expressions}
    assert told["self"] == ()


def test_an_attribute_that_nothing_sets_says_so(tmp_path: Path) -> None:
    code = (
        "from torch import nn\n\n\nclass N(nn.Module):\n    def forward(self, x):\n"
        "        return self.w.item()\n"
    )
    told = {one.text: one.reasons for one in about(tmp_path, "return", code).expressions}
    assert told["self.w"] == ("nothing that was read sets `w` of `N`",)


def test_each_part_of_a_large_project_tells_of_its_own_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = "import torch\n\n\n@torch.compile\ndef step(x, tool=None):\n    return tool.helper(x)\n"
    tool = "class Tool:\n    def helper(self, x):\n        return x.item()\n"
    files = put(tmp_path, {"net.py": code, "tool.py": tool})
    monkeypatch.setattr("tclint.lint.why.shards", lambda paths: [(path,) for path in paths])
    file = tmp_path / "tool.py"
    answer = why(files, Config(tmp_path), {}, file, 3)
    assert answer is not None
    said = "`step` is in a region and calls `tool.helper`, but its value is not known"
    assert [*answer.where.reasons(file)][1:] == [f"{tmp_path / 'net.py'}:6: {said}"]

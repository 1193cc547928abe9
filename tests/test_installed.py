"""Installed packages: their source is read where compiled code calls it, and never imported."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tclint.config import Config, ConfigError
from tclint.diagnostics import Confidence, Diagnostic
from tclint.lint.engine import Run, check_files
from tclint.lint.why import why
from tclint.semantics.installed import FILE_BYTES, Installed
from tests.semantics_probe import put

# What a package on the way of being imported would show: importing it must never happen.
BOOBY_TRAP = "raise SystemExit('imported')\n"

LAZY_INIT = """\
from typing import TYPE_CHECKING

_import_structure = {"models.tiny": ["TinyModel"], "outputs": ["Output"]}

if TYPE_CHECKING:
    from .models import *
    from .outputs import Output
else:
    import sys
    sys.modules[__name__] = _LazyModule(__name__, _import_structure)
"""
STARS = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n" + "".join(
    f"    from .{name} import *\n" for name in ("tiny", *(f"other{n}" for n in range(20)))
)
OUTPUTS = """\
from collections import OrderedDict
from dataclasses import dataclass
import torch

class ModelOutput(OrderedDict):
    def to_tuple(self):
        return tuple(self.values())

@dataclass
class Output(ModelOutput):
    loss: torch.FloatTensor | None = None
    last_hidden_state: torch.FloatTensor | None = None
    hidden_states: tuple[torch.FloatTensor, ...] | None = None
"""
TINY = """\
import torch
from torch import nn
from ...outputs import Output

class TinyConfig:
    def __init__(self, width=3, debug=False):
        self.width = width
        self.debug = debug

class PreTrained(nn.Module):
    @classmethod
    def from_pretrained(cls, name):
        return cls(TinyConfig())

class TinyModel(PreTrained):
    def __init__(self, config: TinyConfig):
        super().__init__()
        self.config = config
        self.layer = nn.Linear(config.width, config.width)

    def forward(self, ids, mask=None):
        if self.config.debug:
            print(ids)
        return Output(last_hidden_state=self.layer(ids))

class Counting(TinyModel):
    def forward(self, ids, mask: torch.Tensor):
        longest = self._longest(mask)
        return self.layer(ids[:, :longest])

    def _longest(self, mask: torch.Tensor):
        return mask.sum(-1).max().item()

class Sometimes(TinyModel):
    def forward(self, ids, mask: torch.Tensor):
        if self.config.width > 3:
            mask.max().item()
        return self.layer(ids)

class Early(TinyModel):
    def forward(self, ids, mask: torch.Tensor):
        if self.config.width > 3:
            return ids
        return self.layer(ids) * mask.max().item()
"""
METADATA = "Metadata-Version: 2.1\nName: pack\nRequires-Dist: torch>=2\n\nAll about pack.\n"

PACKAGE = {
    "pack/__init__.py": LAZY_INIT,
    "pack/outputs.py": OUTPUTS,
    "pack/models/__init__.py": STARS,
    "pack/models/tiny/__init__.py": "from .modeling_tiny import *\nfrom .tokenization import *\n",
    "pack/models/tiny/modeling_tiny.py": TINY,
    "pack/models/tiny/tokenization.py": BOOBY_TRAP,
    "pack-1.0.dist-info/METADATA": METADATA,
}

USER = """\
import torch
from torch import nn
{imports}

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = {model}

    def forward(self, ids: torch.Tensor, mask: torch.Tensor):
        {body}
"""


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """A virtual environment with one package in it."""
    folder = tmp_path / "env"
    put(folder / "lib" / "python3.11" / "site-packages", PACKAGE)
    return folder


def check(root: Path, code: str, environment: str = "env", **config: object) -> Run:
    put(root, {"net.py": code})
    settings = Config(root, python_environment=environment, **config)  # type: ignore[arg-type]
    return check_files([root / "net.py"], settings)


def found(run: Run) -> list[tuple[str, int, str]]:
    return [(r.diagnostic.code, r.diagnostic.span.start.row, r.file.path.name) for r in run.results]


def using(
    body: str,
    model: str = "TinyModel(TinyConfig())",
    imports: str = "from pack import TinyModel, TinyConfig",
) -> str:
    return USER.format(imports=imports, model=model, body=body)


BRANCH = "if self.encoder(ids){} > 0:\n            ids = ids + 1\n        return ids"
KINDS = {
    "a field of the output": BRANCH.format(".last_hidden_state"),
    "the output by place": BRANCH.format("[0]"),
    "a member of a field": BRANCH.format(".hidden_states[0]"),
}


@pytest.mark.parametrize("body", KINDS.values(), ids=KINDS.keys())
def test_outputs_have_the_kinds_of_their_fields(
    tmp_path: Path, environment: Path, body: str
) -> None:
    assert found(check(tmp_path, using(body))) == [("TCL160", 11, "net.py")]


@pytest.mark.parametrize(
    ("imports", "model"),
    [
        ("from pack import TinyModel", "TinyModel.from_pretrained('tiny')"),
        ("import pack", "pack.TinyModel(None)"),
        ("from pack.models.tiny import TinyModel as Model", "Model(None)"),
        ("from pack.models.tiny.modeling_tiny import TinyModel", "TinyModel(None)"),
    ],
)
def test_names_are_followed_through_re_exports(
    tmp_path: Path, environment: Path, imports: str, model: str
) -> None:
    code = using(KINDS["a field of the output"], model, imports)
    assert found(check(tmp_path, code)) == [("TCL160", 11, "net.py")]


def test_a_base_class_of_a_package_is_known(tmp_path: Path, environment: Path) -> None:
    code = """\
import torch
from pack.models.tiny import TinyModel

class Net(TinyModel):
    def forward(self, x: torch.Tensor):
        if super().forward(x).last_hidden_state.sum() > 0:
            x = x + 1
        return self.layer(x).sum().item()
"""
    assert found(check(tmp_path, code)) == [("TCL160", 6, "net.py"), ("TCL101", 8, "net.py")]


def test_without_third_party_code_nothing_is_known_of_it(tmp_path: Path, environment: Path) -> None:
    code = using(KINDS["a field of the output"])
    assert found(check(tmp_path, code, third_party=False)) == []


def test_a_package_that_is_not_installed_changes_nothing(tmp_path: Path, environment: Path) -> None:
    code = using(
        KINDS["a field of the output"], imports="from missing import TinyModel, TinyConfig"
    )
    assert found(check(tmp_path, code)) == []


COUNTING = "from pack.models.tiny.modeling_tiny import {0} as Model"


def told(run: Run) -> Diagnostic:
    (result,) = run.results
    return result.diagnostic


def test_a_sure_break_inside_is_told_at_the_call(tmp_path: Path, environment: Path) -> None:
    code = using("return self.encoder(ids, mask) * 2", "Model(None)", COUNTING.format("Counting"))
    diagnostic = told(check(tmp_path, code))
    assert diagnostic.code == "TCL101"
    assert diagnostic.path == tmp_path / "net.py"
    assert diagnostic.span.start.row == 11
    assert "calls `pack.models.tiny.modeling_tiny`" in diagnostic.message
    assert diagnostic.confidence is Confidence.HIGH
    assert diagnostic.declined is not None
    assert "pack" in diagnostic.declined.reason
    assert [link.function for link in diagnostic.chain] == [
        "Net.forward", "Counting.forward", "Counting._longest",
    ]  # fmt: skip


def test_an_explanation_of_the_call_tells_the_break_inside(
    tmp_path: Path, environment: Path
) -> None:
    body = "return torch.abs(self.encoder(ids, mask)) * 2"
    code = using(body, "Model(None)", COUNTING.format("Counting"))
    diagnostic = told(check(tmp_path, code))
    file = tmp_path / "net.py"
    answer = why([file], Config(tmp_path, python_environment="env"), {}, file, 11)
    assert answer is not None
    [verdict] = [one for one in answer.verdicts if one.message]
    assert (verdict.code, verdict.message, verdict.silent) == ("TCL101", diagnostic.message, "")


def test_the_call_can_be_silenced_where_it_is(tmp_path: Path, environment: Path) -> None:
    code = using(
        "return self.encoder(ids, mask) * 2  # tclint: ignore[TCL101]",
        "Model(None)",
        COUNTING.format("Counting"),
    )
    assert found(check(tmp_path, code)) == []


@pytest.mark.parametrize("name", ["TinyModel", "Sometimes", "Early"])
def test_what_depends_on_the_library_s_settings_is_not_told(
    tmp_path: Path, environment: Path, name: str
) -> None:
    code = using("return self.encoder(ids, mask)", "Model(None)", COUNTING.format(name))
    assert found(check(tmp_path, code)) == []


CALLED = """
def helped(mask: torch.Tensor):
    return mask.max().item()

class Called(TinyModel):
    def forward(self, ids, mask: torch.Tensor):
        {}
        return self.layer(ids)
"""


@pytest.mark.parametrize(
    ("way", "is_told"),
    [
        ("helped(mask)", True),
        ("for _ in range(2):\n            helped(mask)", True),
        ("with torch.no_grad():\n            helped(mask)", True),
        ("try:\n            helped(mask)\n        finally:\n            ids = ids + 1", True),
        ("if 3 > 2:\n            helped(mask)", True),
        ("if 2 > 3:\n            pass\n        else:\n            helped(mask)", True),
        ("if 2 > 3:\n            helped(mask)", False),
        ("ids = ids + torch.tensor([1.0]).to('cuda')", False),  # no break
        ("for _ in range(2):\n            pass\n        else:\n            helped(mask)", False),
        ("while self.config.debug:\n            helped(mask)", False),
        ("if self.config.debug:\n            helped(mask)", False),
        ("self.config.debug and helped(mask)", False),
    ],
)
def test_a_break_is_sure_where_the_way_to_it_is(
    tmp_path: Path, environment: Path, way: str, is_told: bool
) -> None:
    tiny = environment / "lib/python3.11/site-packages/pack/models/tiny/modeling_tiny.py"
    tiny.write_text(TINY + CALLED.format(way))
    code = using("return self.encoder(ids, mask)", "Model(None)", COUNTING.format("Called"))
    run = check(tmp_path, code)
    assert found(run) == ([("TCL101", 11, "net.py")] if is_told else [])


def test_a_package_checked_itself_has_its_findings_where_they_are(tmp_path: Path) -> None:
    paths = put(tmp_path, PACKAGE)
    run = check_files([path for path in paths if path.suffix == ".py"], Config(tmp_path))
    assert {r.file.path.name for r in run.results} == {"modeling_tiny.py"}


def test_packages_that_have_no_use_for_torch_are_not_read(
    tmp_path: Path, environment: Path
) -> None:
    metadata = environment / "lib" / "python3.11" / "site-packages" / "pack-1.0.dist-info/METADATA"
    metadata.write_text(METADATA.replace("torch", "requests"))
    assert found(check(tmp_path, using(KINDS["a field of the output"]))) == []


def test_a_package_leads_into_its_own_modules_only(tmp_path: Path) -> None:
    put(tmp_path, {"a/__init__.py": "from b import f\n", "b/__init__.py": "def f(): ...\n"})
    installed = Installed([tmp_path])
    theirs = installed.module("a", None)
    assert installed.module("b", theirs) is None
    assert installed.module("b", None) is not None


def test_reading_is_bounded(tmp_path: Path) -> None:
    put(
        tmp_path,
        {
            "big/__init__.py": "x = 1\n" * (FILE_BYTES.most // 6 + 1),
            **{f"many/m{n}.py": "x = 1\n" for n in range(300)},
            "many/__init__.py": "",
        },
    )
    installed = Installed([tmp_path])
    assert installed.module("big", None) is None
    read = [installed.module(f"many.m{n}", None) for n in range(300)]
    assert read[0] is not None
    assert read[-1] is None
    assert installed.another().module("many.m299", None) is not None


def test_a_file_that_is_not_python_is_as_good_as_not_there(tmp_path: Path) -> None:
    put(tmp_path, {"pack/__init__.py": "def (:\n"})
    assert Installed([tmp_path]).module("pack", None) is None


def test_the_standard_library_and_torch_are_not_looked_for(tmp_path: Path) -> None:
    put(tmp_path, {"torch/__init__.py": "x = 1\n", "json/__init__.py": "x = 1\n"})
    installed = Installed([tmp_path])
    assert installed.module("torch", None) is None
    assert installed.module("json", None) is None


def test_the_project_s_own_environment_comes_before_tclint_s(tmp_path: Path) -> None:
    assert Config(tmp_path).package_folders() == tuple(
        Path(entry) for entry in sys.path if entry.endswith("site-packages")
    )
    put(tmp_path / ".venv" / "lib" / "python3.12" / "site-packages", {"a.py": ""})
    assert Config(tmp_path).package_folders() == (
        tmp_path / ".venv" / "lib" / "python3.12" / "site-packages",
    )


def test_an_environment_can_be_a_folder_of_packages(tmp_path: Path) -> None:
    put(tmp_path / "site-packages", {"a.py": ""})
    config = Config(tmp_path, python_environment="site-packages")
    assert config.package_folders() == (tmp_path / "site-packages",)


def test_an_environment_without_packages_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"python-environment: .*nowhere is neither a virtual"):
        check(tmp_path, "import torch\n", environment="nowhere")


def test_an_edited_package_is_read_again(tmp_path: Path, environment: Path) -> None:
    code = using(KINDS["a field of the output"])
    assert found(check(tmp_path, code))
    outputs = environment / "lib" / "python3.11" / "site-packages" / "pack" / "outputs.py"
    outputs.write_text(OUTPUTS.replace("last_hidden_state: torch.FloatTensor", "other: int"))
    os.utime(outputs, ns=(0, 0))
    assert found(check(tmp_path, code)) == []

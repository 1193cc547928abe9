"""Several files as one program: what a name of another file leads to."""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.config import Config
from tclint.lint.engine import load_project
from tclint.semantics.project import module_name
from tests.semantics_probe import mismatch, put

HELPER = "def read(x):\n    return x.item()  #! HostRead item\n"
MAIN = "import torch\n{imports}\n@torch.compile\ndef f(x: torch.Tensor):\n    return {call}\n"

IMPORTS = {
    "from a sibling": ("helper.py", "from helper import read", "read(x)"),
    "a sibling": ("helper.py", "import helper", "helper.read(x)"),
    "a sibling by another name": ("helper.py", "import helper as h", "h.read(x)"),
    "a name by another name": ("helper.py", "from helper import read as r", "r(x)"),
    "from a package": ("pkg/helper.py", "from pkg.helper import read", "read(x)"),
    "a module of a package": ("pkg/helper.py", "from pkg import helper", "helper.read(x)"),
    "a dotted module": ("pkg/sub/helper.py", "import pkg.sub.helper", "pkg.sub.helper.read(x)"),
    "a dotted module by another name": (
        "pkg/sub/helper.py", "import pkg.sub.helper as h", "h.read(x)"
    ),
    "from a package's own file": ("pkg/__init__.py", "from pkg import read", "read(x)"),
}  # fmt: skip


def packages(names: list[str]) -> dict[str, str]:
    """Empty ``__init__`` files for every folder on the way to the given files."""
    folders = {parent for name in names for parent in Path(name).parents if parent != Path()}
    return {f"{folder.as_posix()}/__init__.py": "" for folder in folders}


@pytest.mark.parametrize(("file", "imports", "call"), IMPORTS.values(), ids=IMPORTS.keys())
def test_absolute_imports(tmp_path: Path, file: str, imports: str, call: str) -> None:
    main = MAIN.format(imports=imports, call=call)
    assert not mismatch(tmp_path, {**packages([file]), "main.py": main, file: HELPER})


RELATIVE = {
    "from a sibling module": ("pkg/helper.py", "from .helper import read", "read(x)"),
    "a sibling module": ("pkg/helper.py", "from . import helper", "helper.read(x)"),
    "the package itself": ("pkg/__init__.py", "from . import read", "read(x)"),
    "the package above": ("pkg/helper.py", "from ..helper import read", "read(x)"),
    "a module above": ("pkg/helper.py", "from .. import helper as h", "h.read(x)"),
    "a cousin": ("pkg/other/helper.py", "from ..other.helper import read", "read(x)"),
}


WITHOUT_INIT = {
    "a module of another folder": ("net/ops/helper.py", "from net.ops.helper import read", "read"),
    "a dotted module": ("net/ops/helper.py", "import net.ops.helper", "net.ops.helper.read"),
    "a module from a folder": ("net/ops/helper.py", "from net.ops import helper", "helper.read"),
    "a package inside": ("net/ops/__init__.py", "from net.ops import read", "read"),
    "a cousin": ("net/ops/helper.py", "from ..ops.helper import read", "read"),
}


@pytest.mark.parametrize(("file", "imports", "name"), WITHOUT_INIT.values(), ids=WITHOUT_INIT)
@pytest.mark.parametrize("top", [{}, {"net/__init__.py": ""}], ids=["no package", "a package"])
def test_folders_without_an_init_file_are_packages(
    tmp_path: Path, file: str, imports: str, name: str, top: dict[str, str]
) -> None:
    main = MAIN.format(imports=imports, call=f"{name}(x)")
    assert not mismatch(tmp_path, {**top, file: HELPER, "net/models/main.py": main})


def test_the_nearest_folder_above_is_the_one_that_is_meant(tmp_path: Path) -> None:
    main = MAIN.format(imports="from ops.helper import read", call="read(x)")
    other = "def read(x):\n    return x.tolist()\n"
    files = {"ops/helper.py": other, "net/ops/helper.py": HELPER, "net/models/main.py": main}
    assert not mismatch(tmp_path, files)


@pytest.mark.parametrize(("file", "imports", "call"), RELATIVE.values(), ids=RELATIVE.keys())
def test_relative_imports(tmp_path: Path, file: str, imports: str, call: str) -> None:
    main = "pkg/sub/main.py" if ".." in imports else "pkg/main.py"
    files = {**packages([file, main]), file: HELPER, main: MAIN.format(imports=imports, call=call)}
    assert not mismatch(tmp_path, files)


def test_a_package_passes_names_on(tmp_path: Path) -> None:
    files = {
        "pkg/__init__.py": "from .api import *\nfrom .api import read\n",
        "pkg/api.py": "from ._impl import read as read\n",
        "pkg/_impl.py": HELPER,
        "main.py": MAIN.format(imports="from pkg import read", call="read(x)"),
    }
    assert not mismatch(tmp_path, files)


def test_another_name_of_a_type_is_that_of_its_file(tmp_path: Path) -> None:
    main = (
        "import torch\nfrom kinds import Optional, Other\n@torch.compile\n"
        "def f(x: Other, y: Optional = None):\n"
        "    if y is None:\n        return x\n"
        "    return x.item() + y.item()  #! HostRead item; HostRead item\n"
    )
    kinds = "import torch\nOther = torch.Tensor\nOptional = torch.Tensor | None\n"
    assert not mismatch(tmp_path, {"kinds.py": kinds, "main.py": main})


def test_imports_inside_a_function(tmp_path: Path) -> None:
    main = (
        "import torch\n@torch.compile\ndef f(x):\n    from helper import read\n    return read(x)\n"
    )
    assert not mismatch(tmp_path, {"helper.py": HELPER, "main.py": main})


def test_a_base_class_and_a_mixin_of_other_files(tmp_path: Path) -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/base.py": """\
import torch
from torch import nn
class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.ones(3)
    def forward(self, x):
        return self.extra(x)
    def extra(self, x):
        return x
""",
        "pkg/mixin.py": """\
class Reads:
    def read(self, x):
        return x * self.scale.item()  #! HostRead item
""",
        "pkg/net.py": """\
from . import base
from .mixin import Reads
class Net(Reads, base.Base):
    def extra(self, x):
        return self.read(x).item()  #! HostRead item
""",
    }
    assert not mismatch(tmp_path, files)


def test_constants_of_other_files(tmp_path: Path) -> None:
    files = {
        "settings.py": "DEBUG = False\nSIZES = (1, 2)\n",
        "main.py": """\
import torch
import settings
from settings import DEBUG
@torch.compile
def f(x: torch.Tensor):
    if DEBUG or settings.DEBUG:
        x.item()
    return x[settings.SIZES[0]]
""",
    }
    assert not mismatch(tmp_path, files)


def test_files_that_import_each_other(tmp_path: Path) -> None:
    files = {
        "a.py": """\
import torch
import b
from b import B, last
class A(torch.nn.Module):
    def forward(self, x):
        return b.B().read(x)
limit = b.limit
first = last
""",
        "b.py": """\
import a
from a import A, first, limit
class B(A):
    def read(self, x):
        return x.item()  #! HostRead item
last = first
""",
    }
    assert not mismatch(tmp_path, files)


def test_a_module_that_imports_itself_and_a_class_that_is_its_own_base(tmp_path: Path) -> None:
    files = {
        "a.py": """\
import torch
import a
from a import again as again
class Loop(Loop): pass
class First(Second): pass
class Second(First):
    def forward(self, x):
        return super().forward(x)
@torch.compile
def f(x: torch.Tensor):
    a.f(x)
    again(x)
    return Loop(x), Second()(x), x.item()  #! HostRead item
""",
    }
    assert not mismatch(tmp_path, files)


def test_classes_of_torch_are_what_they_are_in_a_run_over_torch(tmp_path: Path) -> None:
    files = {
        "torch/__init__.py": "",
        "torch/nn/__init__.py": "from .modules import *\n",
        "torch/nn/modules/__init__.py": "from .module import Module\n",
        "torch/nn/modules/module.py": "class Module: ...\nclass Near(Module): ...\n",
        "torch/nn/modules/linear.py": "from .module import Module\nclass Linear(Module): ...\n",
        "torch/fx/__init__.py": "from .graph_module import GraphModule\n",
        "torch/fx/graph_module.py": "import torch\nclass GraphModule(torch.nn.Module): ...\n",
        "torch/ao.py": "from torch.fx import GraphModule\nclass Observed(GraphModule): ...\n",
        "torch/flat.py": "from torch import nn\nclass Flat(nn.Parameter): ...\n",
    }
    paths = put(tmp_path, files)
    project = load_project(paths, Config(tmp_path))
    known = {
        cls.qualname: project.is_module_class(cls)
        for path in paths
        if (module := project.module_at(path)) is not None
        for cls in module.classes.values()
    }
    modules = ("Module", "Near", "Linear", "GraphModule", "Observed")
    assert known == {**dict.fromkeys(modules, True), "Flat": False}


def test_a_broken_helper_hides_nothing_else(tmp_path: Path) -> None:
    main = (
        "import torch\nfrom helper import read\n@torch.compile\n"
        "def f(x: torch.Tensor):\n    read(x)\n    return x.item()  #! HostRead item\n"
    )
    assert not mismatch(tmp_path, {"helper.py": "def read(:\n", "main.py": main})


def test_module_names_count_from_the_outermost_package(tmp_path: Path) -> None:
    names = ["top.py", "pkg/__init__.py", "pkg/sub/__init__.py", "pkg/sub/leaf.py", "loose/x.py"]
    paths = put(tmp_path, dict.fromkeys(names, ""))
    assert [module_name(path) for path in paths] == ["top", "pkg", "pkg.sub", "pkg.sub.leaf", "x"]
    inner = put(tmp_path, {"pkg/ops/dcn/__init__.py": "", "pkg/a-b/c/__init__.py": ""})
    assert [module_name(path) for path in inner] == ["pkg.ops.dcn", "c"]


def test_module_names_do_not_depend_on_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, {"pkg/__init__.py": "", "pkg/sub/__init__.py": "", "pkg/sub/leaf.py": ""})
    monkeypatch.chdir(tmp_path / "pkg" / "sub")
    assert module_name(Path("leaf.py")) == "pkg.sub.leaf"
    assert module_name(Path("__init__.py")) == "pkg.sub"


def test_scripts_of_the_same_name_import_their_own_helpers(tmp_path: Path) -> None:
    main = MAIN.format(imports="from helper import read", call="read(x)")
    files = {
        "one/helper.py": HELPER,
        "one/main.py": main,
        "two/helper.py": "def read(x):\n    return x.tolist()  #! HostRead tolist\n",
        "two/main.py": main,
    }
    assert not mismatch(tmp_path, files)


def test_look_ups_end_where_names_lead_in_circles(tmp_path: Path) -> None:
    [path] = put(tmp_path, {"a.py": "from a import x as y\nfrom a import y as x\n"})
    project = load_project([path], Config(tmp_path))
    assert project.lookup("a.x") is None

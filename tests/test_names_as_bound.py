"""Names as Python binds them: each program is run, compiled, and analysed.

``#! HostRead item`` marks what breaks the graph; a program without a mark compiles whole.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tclint.config import Config
from tclint.lint.engine import check_files
from tests.semantics_probe import mismatch, put, wanted_in

torch = pytest.importorskip("torch", reason="the programs are compiled")

READ = "def read(x):\n    return x * x.max().item()  #! HostRead item\n"
KEEP = "def read(x):\n    return x * 2\n"
TORCH = "import torch\n"
F = '@torch.compile(backend="eager")\ndef f(x: torch.Tensor):\n    return {call}\n'


def main(imports: str, call: str = "read(x)") -> str:
    return f"{TORCH}{imports}\n{F.format(call=call)}"


def package(init: str, imports: str, call: str = "read(x)", **files: str) -> dict[str, str]:
    """A package with a submodule `read`, which nobody imports unless something says so."""
    beside = {f"pkg/{name}.py": text for name, text in ({"read": READ} | files).items()}
    return {"pkg/__init__.py": init, **beside, "program.py": main(imports, call)}


OTHER = "def other(x):\n    return x * 2\n"
FROM_READ = "from .read import read\n"
NET = """\
class Net(nn.Module):
    def forward(self, x):
        return x * x.max().item()  #! HostRead item


net = torch.compile(Net(), backend="eager")


def f(x):
    return net(x)
"""
LAYER = """\
@torch.compile(backend="eager")
def f(x: torch.Tensor):
    return F.relu(x) * torch.max(x).item()  #! HostRead item
"""
STATIC = """\
import contextlib
import functools
import torch


def passing(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        return function(*args, **kwargs)
    return inner


class Ops:
    {0}
    {1}
    def read(x, scale: float = 1.0):
        return x * scale * x.max().item()  #! HostRead item

    def go(self, x):
        return self.read(x)


@torch.compile(backend="eager")
def f(x: torch.Tensor):
    return {2}
"""
PROGRAMS: dict[str, dict[str, str]] = {
    "the function of a submodule's name": package(FROM_READ, "from pkg import read"),
    "as an attribute of the package": package(FROM_READ, "import pkg", "pkg.read(x)"),
    "imported with its path": package(FROM_READ, "import pkg.read", "pkg.read(x)"),
    "imported under another name": package(FROM_READ, "import pkg.read as r", "r(x)"),
    "from the submodule itself": package(FROM_READ, "from pkg.read import read"),
    "the submodule where nothing else has the name": package(
        "", "from pkg import read", "read.read(x)"
    ),
    "the submodule of a package that imports another name of it": package(
        "from .read import read as other\n", "from pkg import read, other",
        "read.read(x) + other(x)",
    ),
    "another function from the submodule of its name": package(
        "from .read import other as read\n", "from pkg import read", read=OTHER
    ),
    "the submodule imported last, which is loaded already": package(
        "from .read import read\nimport pkg.read\n", "from pkg import read"
    ),
    "the submodule loaded by a sibling that comes first": package(
        "from .first import kept\nfrom .last import read\n", "from pkg import read",
        read="def kept(x):\n    return x\n", first="from .read import kept\n", last=READ,
    ),
    "handed on by a package inside": {
        "pkg/__init__.py": "from .sub import read\n",
        "pkg/sub/__init__.py": "from .read import read\n",
        "pkg/sub/read.py": READ,
        "program.py": main("from pkg import read"),
    },
    "a module that the star of a package brings": {
        "pkg/__init__.py": "from .sub import *\n",
        "pkg/sub/__init__.py": "from .kept import other\n",
        "pkg/sub/kept.py": READ + OTHER,
        "program.py": main("import pkg", "pkg.kept.read(x)"),
    },
    "a class of a submodule's name": package(
        "from .net import net\n", "import pkg\nmade = pkg.net()", "made.read(x)",
        read=KEEP, net="class net:\n    def read(self, x):\n"
        "        return x * x.max().item()  #! HostRead item\n",
    ),
    "nn from a star": {
        "base.py": "import torch\nfrom torch import nn\n",
        "program.py": f"from base import *\n{NET}",
    },
    "torch and F from a star of a star": {
        "pkg/__init__.py": "",
        "pkg/base.py": "import torch\nimport torch.nn.functional as F\n_torch = torch\n",
        "pkg/further.py": "from .base import *\n",
        "program.py": f"from pkg.further import *\n{LAYER}",
    },
    "what __all__ lists and no more": {
        "base.py": (
            "import torch\nimport torch.nn.functional as F\n__all__ = ['torch', 'F']\n"
            "def max(x):\n    return x.tolist()\n"
        ),
        "program.py": f"from base import *\n{LAYER}",
    },
    "nn by its name from another file": {
        "base.py": "import torch\nfrom torch import nn as layers\n",
        "program.py": f"from base import torch, layers as nn\n{NET}",
    },
    "the star that comes last": {
        "base.py": READ, "other.py": KEEP,
        "program.py": main("from other import read\nfrom base import *"),
    },
    "an import below a star": {
        "base.py": READ.partition("  #!")[0] + "\n", "other.py": KEEP,
        "program.py": main("from base import *\nfrom other import read"),
    },
    "a def that stands in for an import": {
        "program.py": main(
            "try:\n    from not_there import read\nexcept ImportError:\n"
            "    def read(x):\n        return x * x.max().item()  #! HostRead item\n"
        ),
    },
    "an import that stands in for a def": {
        "base.py": READ,
        "program.py": main(
            "try:\n    import not_there\n    def read(x):\n        return not_there.read(x)\n"
            "except ImportError:\n    from base import read\n"
        ),
    },
    "a def for releases of torch that lack something": {
        "program.py": main(
            "if hasattr(torch, 'compile'):\n    from torch.compiler import is_compiling\n"
            "else:\n    def is_compiling():\n        return False\n"
            "def read(x):\n    return x if is_compiling() else x * x.max().item()\n"
        ),
    },
    "an import that is there and a def that is not needed": {
        "base.py": READ,
        "program.py": main(
            "try:\n    from base import read\nexcept ImportError:\n"
            "    def read(x):\n        return x.tolist()\n"
        ),
    },
    "the def of a condition, first": {
        "program.py": main(
            "import sys\nif not sys.flags.debug:\n    def read(x):\n"
            "        return x * x.max().item()  #! HostRead item\n"
            "else:\n    def read(x):\n        return x * 2\n"
        ),
    },
    "the def of a condition, last": {
        "pkg/__init__.py": "", "program.py": main("from pkg.ways import read"),
        "pkg/ways.py": (
            "import sys\nif sys.flags.debug:\n    def read(x):\n        return x * 2\n"
            "else:\n    def read(x):\n"
            "        return x * x.max().item()  #! HostRead item\n"
        ),
    },
    "a def that a condition takes the place of": {
        "program.py": main(
            "import sys\ndef read(x):\n    return x * 2\nif not sys.flags.debug:\n"
            "    def read(x):\n        return x * x.max().item()  #! HostRead item\n"
        ),
    },
    "torch that another file imports": {
        "compat.py": "import torch\n",
        "program.py": "from compat import torch\n" + F.format(
            call="x * x.max().item()  #! HostRead item"
        ),
    },
    "a star below a def": {
        "other.py": KEEP,
        "program.py": main("def read(x):\n    return x.tolist()\nfrom other import *"),
    },
    "stars in a circle, one of them below a def": {
        "pkg/__init__.py": "from .one import *\n",
        "pkg/one.py": f"{KEEP}from .two import *\n", "pkg/two.py": f"from .one import *\n{READ}",
        "program.py": main("from pkg import read"),
    },
    "an import for types below a def": {
        "other.py": "def read(x):\n    return x.tolist()\n",
        "program.py": main(
            f"from typing import TYPE_CHECKING\n{KEEP}if TYPE_CHECKING:\n    from other import read"
        ),
    },
    "a def below conditions": {
        "program.py": main(
            "import sys\nif sys.flags.debug:\n    def read(x):\n        return x.tolist()\n"
            "def read(x):\n    return x * x.max().item()  #! HostRead item\n"
        ),
    },
    "the def of a release of torch": {
        "program.py": main(
            "if torch.__version__ >= '2.0':\n    def read(x):\n        return x * 2\n"
            "else:\n    def read(x):\n        return x.tolist()\n"
        ),
    },
    "a static method below a decorator": {
        "program.py": STATIC.format("@passing", "@staticmethod", "Ops.read(x)"),
    },
    "a static method above a decorator": {
        "program.py": STATIC.format("@staticmethod", "@passing", "Ops.read(x, 2.0)"),
    },
    "a static method above a context": {
        "program.py": STATIC.format("@staticmethod", "@torch.no_grad()", "Ops().read(x)"),
    },
    "a static method that is compiled": {
        "program.py": STATIC.format(
            "@staticmethod", '@torch.compile(backend="eager")', "x"
        ).replace("def f(x: torch.Tensor):", "def g(x: torch.Tensor):") + "\n\nf = Ops.read\n",
    },
    "a static method that two decorators wrap": {
        "program.py": STATIC.format("@passing\n    @passing", "@staticmethod", "Ops.read(x)"),
    },
    "a static method between decorators": {
        "program.py": STATIC.format(
            "@staticmethod\n    @passing", "@torch.no_grad()", "Ops().go(x)"
        ),
    },
    "a static method of a library's decorator": {
        "program.py": STATIC.format(
            "@staticmethod", "@torch.amp.custom_fwd(device_type='cpu')", "Ops.read(x)"
        ),
    },
    "a static method handed on": {
        "program.py": STATIC.format("@staticmethod", "@passing", "Ops.again(x)").replace(
            "    def go", "    again = read\n\n    def go"
        ),
    },
    "a static method called on self": {
        "program.py": STATIC.format("@staticmethod", "@passing", "Ops().go(x)"),
    },
}  # fmt: skip


def breaks(folder: Path, files: dict[str, str]) -> bool:
    """Whether the graph breaks when `f` of `program.py` runs, which must not fail."""
    from torch._dynamo.utils import counters

    put(folder, files)
    for name in files:  # another test may have left a module of that name
        sys.modules.pop(Path(name).parts[0].removesuffix(".py"), None)
    before = set(sys.modules)
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    torch._dynamo.reset()
    counters.clear()
    try:
        importlib.import_module("program").f(torch.tensor([1.0, 2.0, 3.0]))
    finally:
        sys.path.remove(str(folder))
        for name in {*sys.modules} - before:
            if str(folder) in str(getattr(sys.modules[name], "__file__", "")):
                del sys.modules[name]
    return bool(counters["graph_break"])


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_name_means_what_python_binds(name: str, tmp_path: Path) -> None:
    files = PROGRAMS[name]
    assert breaks(tmp_path, files) is any(map(wanted_in, files.values()))
    assert not mismatch(tmp_path, files)


UNCLEAR = {
    "a package that binds a name in a loop": (
        package(
            "for name in ('read',):\n"
            "    globals()[name + 'er'] = __import__('pkg.read', fromlist=['x']).read\n",
            "from pkg import reader", "reader(x)",
        ),
        "nothing that can be read in `pkg` binds `reader`",
    ),
    "a package that updates its globals": (
        package(
            "from . import read as made\nglobals().update(reader=made.read)\n",
            "import pkg", "pkg.reader(x)",
        ),
        "nothing that can be read in `pkg` binds `reader`",
    ),
    "a package that looks names up": (
        package(
            "def __getattr__(name):\n    from .read import read\n    return read\n",
            "from pkg import reader", "reader(x)",
        ),
        "nothing that can be read in `pkg` binds `reader`",
    ),
    "stars in a circle": (
        {
            "one.py": "from two import *\n", "two.py": "from one import *\nreader = 3\n",
            "three.py": "import one\none.keep = lambda x: x * 2\n",
            "program.py": main("import three\nfrom one import *", "keep(x)"),
        },
        "nothing that can be read binds `keep`",
    ),
    "a module that puts another in its place": (
        {
            "own.py": (
                "import sys\nimport types\ndef read(x):\n    return x.tolist()\n"
                "made = types.SimpleNamespace(read=lambda x: x * 2)\nsys.modules[__name__] = made\n"
            ),
            "program.py": main("from own import read"),
        },
        "`own` puts another object in its place, so what its `read` is is not known",
    ),
    "a function with a module of its name that somebody may import": (
        package("from .other import read\n", "from pkg import read", other=KEEP),
        "`read` is the module `pkg.read` or what `pkg` binds to that name",
    ),
    "a star of what is not there": (
        {"program.py": main("from types import *\nfrom away import *", "read(x)")},
        "",  # Python's own star may bind it
    ),
}  # fmt: skip


def told(folder: Path, files: dict[str, str]) -> list[str]:
    """What is said to be not followed, and where."""
    paths = put(folder, files)
    found = [one.diagnostic for one in check_files(paths, Config(root=folder)).results]
    return [one.message for one in found if one.code == "TCL004"]


@pytest.mark.parametrize("name", UNCLEAR)
def test_a_name_that_nobody_can_tell_is_said_to_be_unknown(name: str, tmp_path: Path) -> None:
    files, reason = UNCLEAR[name]
    if "away" not in files["program.py"]:
        breaks(tmp_path, files)
    found = told(tmp_path, files)
    assert len(found) == bool(reason)
    assert not reason or reason in found[0]


STARS = {
    "torch itself": "@torch.compile\ndef f(x):\n    return x\n",
    "torch in code that trains": "def train(model):\n    torch.optim.Adam(model.parameters())\n",
    "a base of layers": ("class Net(nn.Module):\n    def forward(self, x):\n        return x\n"),
    "a function in a region": (
        "import torch\n@torch.compile\ndef f(x: torch.Tensor):\n    return relu(x)\n"
    ),
}


@pytest.mark.parametrize("text", STARS.values(), ids=STARS)
def test_a_star_that_is_not_there_to_read_is_told_once(text: str, tmp_path: Path) -> None:
    for star in ("from away import *\n", "from torch.nn import *\nfrom away import *\n"):
        found = told(tmp_path, {"program.py": star + text})
        assert len(found) == 1
        assert "may come from `from away import *`, and that is not there to read" in found[0]


def test_torch_that_nothing_binds_is_told(tmp_path: Path) -> None:
    [found] = told(
        tmp_path, {"program.py": "@torch.compile\ndef f(x):\n    return torch.relu(x)\n"}
    )
    assert "nothing that can be read binds `torch`" in found


QUIET = {
    "imported in a function": "def f(x):\n    import torch\n    return torch.relu(x)\n",
    "a parameter": "def f(torch):\n    return torch.relu(3)\n",
    "imported for types": (
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import torch\n"
        "def f(x: 'torch.Tensor'):\n    return x\n"
    ),
    "in a text": '"""As torch.relu does."""\n',
    "in a class": "class A:\n    import torch\n    made = torch.nn\n",
    "variables of loops, handlers and patterns": (
        "import torch\n@torch.compile\ndef f(x):\n    for i in range(3):\n        x = x + i\n"
        "    try:\n        y = [k for k in (1, 2)]\n    except ValueError as error:\n"
        "        y = error\n    match y:\n        case [first, *rest]:\n"
        "            return x, first, rest\n"
        "    if (z := 3) > 2:\n        return x, z\n    return x\n"
    ),
    "a class, a function and an import of a function around": (
        "import torch\ndef make(kind):\n    if kind:\n        import math as made\n"
        "        class Twice(torch.autograd.Function):\n            @staticmethod\n"
        "            def forward(ctx, x):\n                return x * 2\n"
        "            @staticmethod\n            def backward(ctx, gradient):\n"
        "                return gradient * 2\n        def once(x):\n            return x\n"
        "        def run(x):\n            return Twice.apply(once(x)) + made.pi\n"
        "        return run\n"
        "@torch.compile\ndef f(x):\n    return make(True)(x)\n"
    ),
    "variables that no function here binds": (
        "import torch\nfor one in (1, 2):\n    pass\nwith open(__file__) as file:\n    pass\n"
        "def change():\n    global late\n    late = 3\n"
        "@torch.compile\ndef f(x):\n    return x, one, file, late, __name__\n"
    ),
}


@pytest.mark.parametrize("text", QUIET.values(), ids=QUIET)
def test_names_that_something_binds_are_not_told(text: str, tmp_path: Path) -> None:
    assert told(tmp_path, {"program.py": text}) == []


@pytest.mark.parametrize(
    "imports",
    [
        "import pkg.native",
        "import pkg\nimport pkg.native.part",
        "import pkg\ndef g():\n    import pkg.native",
    ],
)
def test_a_module_that_is_imported_and_not_here_is_a_library(imports: str, tmp_path: Path) -> None:
    files = {"pkg/__init__.py": "", "program.py": main(imports, "pkg.native.read(x)")}
    assert told(tmp_path, files) == []
    files["program.py"] = main("import pkg", "pkg.native.read(x)")
    assert len(told(tmp_path, files)) == 1


def test_what_a_package_makes_while_it_runs_is_told_once_in_a_file(tmp_path: Path) -> None:
    init = "for name in ('one', 'two'):\n    globals()[name] = lambda x: x\n"
    files = package(init, "import pkg", "pkg.one(pkg.two(x))")
    [found] = told(tmp_path, files)
    assert "nothing that can be read in `pkg` binds `" in found


def test_each_file_is_told_the_name_that_it_uses(tmp_path: Path) -> None:
    init = "for name in ('one', 'two'):\n    globals()[name] = lambda x: x\n"
    files = package(init, "import pkg", "pkg.one(x)")
    files["second.py"] = files["program.py"].replace("one", "two")
    paths = put(tmp_path, files)
    told = [one.diagnostic for one in check_files(paths, Config(tmp_path)).results]
    found = {one.path.name: one.message for one in told}
    assert "in `pkg` binds `one`" in found["program.py"]
    assert "in `pkg` binds `two`" in found["second.py"]


def test_a_star_of_a_file_that_is_taken_over_is_told_by_its_name(tmp_path: Path) -> None:
    files = {
        "pkg/__init__.py": "", "pkg/every.py": "from .imports import *\n",
        "pkg/imports.py": "import torch\nfrom away import *\nfrom far import *\n",
        "pkg/net.py": "from .every import *\n" + F.format(call="helper(x)"),
    }  # fmt: skip
    [found] = told(tmp_path, files)
    assert "such as `helper`, may come from `from away import *` or another star" in found


def test_a_package_behind_a_link_is_read(tmp_path: Path) -> None:
    files = {
        "made/__init__.py": FROM_READ, "made/read.py": READ, "pkg/__init__.py": "",
        "program.py": main("from pkg.linked import read\nfrom pkg.linked.read import read as two"),
    }  # fmt: skip
    paths = put(tmp_path, files)
    (tmp_path / "pkg" / "linked").symlink_to("../made")
    found = [one.diagnostic for one in check_files(paths, Config(root=tmp_path)).results]
    assert [(one.code, one.path.name) for one in found] == [("TCL101", "read.py")]
    (tmp_path / "pkg" / "linked").unlink()
    [gone] = check_files(paths, Config(root=tmp_path)).results
    assert "nothing that can be read in `pkg` binds `linked`" in gone.diagnostic.message


def test_a_file_behind_a_link_is_read(tmp_path: Path) -> None:
    net = f"{TORCH}from read import read\n{F.format(call='read(x)')}"
    files = {"one/read.py": READ, "two/read.py": KEEP, "three/net.py": net}
    paths = put(tmp_path, files)
    (tmp_path / "three" / "read.py").symlink_to("../one/read.py")
    found = [one.diagnostic for one in check_files(paths, Config(root=tmp_path)).results]
    assert [(one.code, one.path.parent.name) for one in found] == [("TCL101", "one")]


def test_a_module_sees_what_stands_beside_the_script_above_it(tmp_path: Path) -> None:
    net = f"{TORCH}from read import read\n{F.format(call='read(x)')}"
    script = "import models.net\nif __name__ == '__main__':\n    print(models.net.read.__code__)\n"
    files = {
        "app/__init__.py": "", "app/read.py": READ, "app/train.py": script,
        "app/models/__init__.py": "", "app/models/net.py": net, "read.py": KEEP,
    }  # fmt: skip
    paths = put(tmp_path, files)
    found = [one.diagnostic for one in check_files(paths, Config(root=tmp_path)).results]
    assert [(one.code, one.path.parent.name) for one in found] == [("TCL101", "app")]
    command = [sys.executable, str(tmp_path / "app" / "train.py")]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert f"app{os.sep}read.py" in ran.stdout


def test_a_module_of_a_package_does_not_see_the_one_beside_it_unless_a_script_is_there(
    tmp_path: Path,
) -> None:
    net = F.format(call="read(x)")
    files = {
        "pkg/__init__.py": "", "pkg/read.py": READ,
        "pkg/net.py": f"{TORCH}from read import read\n{net}",
        "read.py": "def read(x):\n    return x\n",
    }  # fmt: skip
    paths = put(tmp_path, files)

    def found() -> list[str]:
        results = check_files(paths, Config(root=tmp_path)).results
        return [one.diagnostic.path.name for one in results if one.diagnostic.code == "TCL101"]

    assert found() == []  # it is the one at the root that Python finds
    code = "import pkg.net; print(pkg.net.read.__module__, pkg.net.read(3))"
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert ran.stdout.split() == ["read", "3"]
    paths += put(tmp_path, {"pkg/train.py": "if __name__ == '__main__':\n    import net\n"})
    assert found() == ["read.py"]


def test_what_a_module_makes_when_it_is_asked_is_said_to_be_made_so(tmp_path: Path) -> None:
    files, _ = UNCLEAR["a package that looks names up"]
    results = check_files(put(tmp_path, files), Config(root=tmp_path)).results
    [found] = [one.diagnostic for one in results if one.diagnostic.code == "TCL004"]
    assert "by `__getattr__`" in found.instead

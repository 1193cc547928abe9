"""Finding, reading and overriding the configuration."""

from __future__ import annotations

import dataclasses
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from tclint import gone
from tclint.config import (
    NEWEST_TORCH,
    Config,
    ConfigError,
    VerifyTarget,
    check_codes,
    describe_keys,
    effective,
    find_config,
    json_schema,
    load_config,
    read_config,
    with_overrides,
)
from tclint.lint.engine import check_files

KNOWN = {"TCL101", "TCL102", "TCL205"}

EVERYTHING = """
extend = "base.toml"
weak = true
leave-out = ["tests", "!tests/zoo"]
extend-safe-fixes = ["TCL1"]
extend-unsafe-fixes = ["TCL205"]
third-party = false
python-environment = ".venv"
select = ["TCL1", "TCL205"]
extend-select = ["TCL205"]
ignore = ["TCL2"]
fixable = ["ALL"]
unfixable = ["TCL101"]
include = ["*.py", "SConstruct"]
exclude = ["gen"]
extend-exclude = ["old/**"]
force-exclude = true
respect-gitignore = false
target-torch = "2.11"
scope = "compiled"
compiled = ["pkg.model:Net"]
rules = { TCL101 = { depth = 3 } }
per-file-ignores = { "tests/*" = ["TCL1"] }
verify = [{ target = "pkg.demo:make", name = "demo" }, { target = "pkg.demo:other" }]
"""


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_every_key_is_read(tmp_path: Path) -> None:
    write(tmp_path / "base.toml", "")
    file = write(tmp_path / "tclint.toml", EVERYTHING)
    config = load_config(tmp_path, KNOWN)
    assert config.source == file
    assert config.root == tmp_path
    assert config.select == ("TCL1", "TCL205")
    assert config.settings.target_torch == (2, 11)
    assert config.per_file_ignores == (("tests/*", ("TCL1",)),)
    assert config.verify_targets == (
        VerifyTarget("pkg.demo:make", "demo"),
        VerifyTarget("pkg.demo:other", "pkg.demo:other"),
    )
    defaults = effective(Config(tmp_path))
    assert [k for k, v in effective(config).items() if v == defaults[k]] == []


def test_toml_arrays_of_tables_name_the_programs_to_verify(tmp_path: Path) -> None:
    write(
        tmp_path / "pyproject.toml",
        '[[tool.tclint.verify]]\ntarget = "a:b"\n[[tool.tclint.verify]]\ntarget = "a:c"\n',
    )
    assert [t.target for t in load_config(tmp_path).verify_targets] == ["a:b", "a:c"]


def test_nearest_file_decides_alone(tmp_path: Path) -> None:
    write(tmp_path / "tclint.toml", 'ignore = ["TCL101"]')
    write(tmp_path / "a" / "pyproject.toml", "[tool.tclint]\nforce-exclude = true\n")
    write(tmp_path / "a" / "b" / "pyproject.toml", "[tool.ruff]\n")
    start = write(tmp_path / "a" / "b" / "c.py", "")
    config = load_config(start)
    assert config.root == tmp_path / "a"
    assert config.force_exclude
    assert config.ignore == ()


def test_tclint_toml_goes_before_pyproject(tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml", "[tool.tclint]\n")
    file = write(tmp_path / "tclint.toml", "")
    assert find_config(tmp_path) == file


def test_without_a_file_the_folder_is_the_root(tmp_path: Path) -> None:
    start = write(tmp_path / "pkg" / "a.py", "")
    config = load_config(start)
    assert (config.root, config.source) == (tmp_path / "pkg", None)


def test_broken_pyproject_of_others_does_no_harm(tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml", "[tool.ruff\n")
    assert load_config(tmp_path).source is None


@pytest.mark.parametrize(
    ("folder", "target"),
    [
        ("torch-2.11.0+cu128.dist-info", (2, 11)),
        ("torch-2.10.0a0+git1.dist-info", (2, 10)),
        ("torch-2.12.1-py3.11.egg-info", (2, 12)),
        ("torch-unknown.dist-info", NEWEST_TORCH),
        ("torch_scatter-2.1.2.dist-info", NEWEST_TORCH),
    ],
)
def test_installed_torch_is_the_default_target(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str, target: tuple[int, int]
) -> None:
    (tmp_path / "site-packages" / folder).mkdir(parents=True)
    monkeypatch.setattr(sys, "path", ["", "nowhere", str(tmp_path / "site-packages")])
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    assert load_config(tmp_path).settings.target_torch == target
    assert "torch" not in sys.modules


def test_an_extended_file_holds_where_the_nearer_one_says_nothing(tmp_path: Path) -> None:
    write(
        tmp_path / "shared" / "base.toml",
        'scope = "all"\ntarget-torch = "2.11"\nignore = ["TCL101"]\nextend-exclude = ["a"]\n'
        'per-file-ignores = { "x.py" = ["TCL1"] }\npython-environment = "env"\n',
    )
    write(
        tmp_path / "pyproject.toml",
        '[tool.tclint]\nextend = "shared/base.toml"\nscope = "compiled"\nignore = ["TCL102"]\n'
        'extend-exclude = ["b"]\nper-file-ignores = { "y.py" = ["TCL2"] }\n',
    )
    config = load_config(tmp_path, KNOWN)
    assert (config.root, config.scope) == (tmp_path, "compiled")
    assert config.settings.target_torch == (2, 11)
    assert config.ignore == ("TCL101", "TCL102")
    assert config.extend_exclude == ("a", "b")
    assert config.per_file_ignores == (("x.py", ("TCL1",)), ("y.py", ("TCL2",)))
    assert config.python_environment == str(tmp_path / "shared" / "env")


def test_a_select_begins_the_selection_of_the_extended_file_anew(tmp_path: Path) -> None:
    write(tmp_path / "base.toml", 'extend-select = ["TCL101"]\nignore = ["TCL205"]\n')
    write(tmp_path / "tclint.toml", 'extend = "base.toml"\nselect = ["TCL102"]\n')
    config = load_config(tmp_path, KNOWN)
    assert (config.select, config.extend_select, config.ignore) == (("TCL102",), (), ())


def test_a_chain_of_extended_files_is_followed(tmp_path: Path) -> None:
    write(tmp_path / "c.toml", 'scope = "all"\n')
    write(tmp_path / "b" / "b.toml", 'extend = "../c.toml"\n')
    write(tmp_path / "tclint.toml", 'extend = "b/b.toml"\n')
    assert load_config(tmp_path).scope == "all"


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"tclint.toml": 'extend = "tclint.toml"'}, "extend: the files extend each other: "),
        ({"tclint.toml": 'extend = "b.toml"', "b.toml": 'extend = "tclint.toml"'}, "each other"),
        ({"tclint.toml": 'extend = "gone.toml"'}, "tclint.toml: extend: there is no file"),
        ({"tclint.toml": 'extend = "pyproject.toml"', "pyproject.toml": ""}, "has no table"),
        ({"tclint.toml": 'extend = "b.toml"', "b.toml": 'ignore = ["X1"]'}, "b.toml: ignore: no"),
        ({"tclint.toml": "extend = 1"}, "extend: expected string, a path"),
    ],
)
def test_a_file_that_cannot_be_extended_is_named(
    tmp_path: Path, files: dict[str, str], message: str
) -> None:
    for name, text in files.items():
        write(tmp_path / name, text)
    with pytest.raises(ConfigError, match=re.escape(message)):
        load_config(tmp_path, KNOWN)


@pytest.mark.parametrize(
    "text",
    [
        'select = ["TCL1"]\nignore = ["TCL1"]',
        'extend-select = ["TCL101"]\nignore = ["TCL101"]',
        'fixable = ["ALL"]\nunfixable = ["ALL"]',
        'extend-safe-fixes = ["TCL1"]\nextend-unsafe-fixes = ["TCL1"]',
    ],
)
def test_a_code_cannot_be_wanted_and_unwanted_at_once(tmp_path: Path, text: str) -> None:
    write(tmp_path / "tclint.toml", text)
    with pytest.raises(ConfigError, match="take it out of one of them"):
        load_config(tmp_path)


def test_the_command_line_may_contradict_a_file_but_not_itself(tmp_path: Path) -> None:
    config = Config(tmp_path, select=("TCL1",))
    assert with_overrides(config, ignore=["TCL1"]).ignore == ("TCL1",)
    with pytest.raises(ConfigError, match="command line: TCL1 is in select and ignore"):
        with_overrides(config, select=["TCL1"], ignore=["TCL1"])


BAD = [
    ("ingore = []", "unknown key 'ingore'; did you mean 'ignore'?"),
    ("zzz = 1", "unknown key 'zzz'"),
    ('select = "TCL101"', "select: expected a list of strings; write ['TCL101']"),
    ("select = [1]", "select: expected a list of strings, got the list [1]"),
    ("force-exclude = 1", "force-exclude: expected true or false, got the number 1"),
    (
        'scope = "module"',
        "scope: 'module' is not one of compiled, modules, all; did you mean 'modules'?",
    ),
    ("target-torch = 2.10", 'target-torch: expected a string such as "2.13", got the number 2.1'),
    ('target-torch = "new"', "target-torch: expected a string such as"),
    ("per-file-ignores = []", "per-file-ignores: expected table: pattern = list of codes"),
    ('per-file-ignores = {"a" = "TCL101"}', "per-file-ignores: 'a': expected a list of strings"),
    ('exclude = ["!"]', "exclude: '!' is not a pattern as in .gitignore"),
    ("verify = [1]", "verify: expected a table with `target`, got the number 1"),
    ('verify = [{name = "x"}]', 'verify: target: expected "package.module:function", got nothing'),
    ('verify = [{target = "x"}]', "got the string 'x'"),
    ('verify = [{target = "x:y", tagret = "x"}]', "unknown key 'tagret'; did you mean 'target'?"),
    ('ignore = ["TCL20l"]', "ignore: no rule has the code 'TCL20l'; `tclint rule` lists all"),
    ('ignore = [""]', "ignore: no rule has the code ''"),
    ('per-file-ignores = {"a" = ["E501"]}', "per-file-ignores: no rule has the code 'E501'"),
    ("select = [", "not valid TOML"),
]


@pytest.mark.parametrize(("text", "message"), BAD, ids=[text for text, _ in BAD])
def test_mistake_names_the_file_the_key_and_the_way_out(
    tmp_path: Path, text: str, message: str
) -> None:
    file = write(tmp_path / "tclint.toml", text + "\n")
    with pytest.raises(ConfigError, match=re.escape(message)) as caught:
        load_config(tmp_path, KNOWN)
    assert str(caught.value).startswith(f"{file}: ")


def test_file_that_is_not_utf8_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "tclint.toml").write_bytes(b"# caf\xe9\n")
    with pytest.raises(ConfigError, match="not UTF-8"):
        load_config(tmp_path)


def test_table_that_is_none_is_an_error(tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml", "[tool]\ntclint = 3\n")
    with pytest.raises(ConfigError, match=r"tool\.tclint: expected a table, got the number 3"):
        load_config(tmp_path)


def test_missing_file_named_by_the_user_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"gone\.toml: cannot read"):
        read_config(tmp_path / "gone.toml")


def test_select_on_the_command_line_replaces_the_selection(tmp_path: Path) -> None:
    config = Config(tmp_path, select=("TCL1",), extend_select=("TCL2",), ignore=("TCL101",))
    config = with_overrides(config, select=["TCL101"], fixable=None)
    assert (config.select, config.extend_select, config.ignore) == (("TCL101",), (), ())


def test_ignore_and_extensions_on_the_command_line_add(tmp_path: Path) -> None:
    config = Config(tmp_path, ignore=("TCL101",), extend_select=("TCL2",), extend_exclude=("a",))
    config = with_overrides(config, ignore=["TCL102"], extend_select=["TCL3"], extend_exclude=["b"])
    assert config.ignore == ("TCL101", "TCL102")
    assert config.extend_select == ("TCL2", "TCL3")
    assert config.extend_exclude == ("a", "b")


def test_other_overrides_replace(tmp_path: Path) -> None:
    config = with_overrides(Config(tmp_path), target_torch="2.10", scope="all", compiled=["a.b"])
    assert config.settings == dataclasses.replace(config.settings, target_torch=(2, 10))
    assert (config.scope, config.compiled) == ("all", ("a.b",))


def test_bad_override_names_the_option(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="--scope: 'al' is not one of"):
        with_overrides(Config(tmp_path), scope="al")
    with pytest.raises(TypeError, match="scoop"):
        with_overrides(Config(tmp_path), scoop="all")
    with pytest.raises(ConfigError, match="command line: select: no rule has the code 'X'"):
        check_codes(with_overrides(Config(tmp_path), select=["X"]), KNOWN)


def test_keys_describe_the_configuration_and_its_defaults(tmp_path: Path) -> None:
    config = Config(tmp_path)
    for key in describe_keys():
        owner: Any = config.settings if key.field.startswith("settings.") else config
        value = getattr(owner, key.field.rpartition(".")[2])
        assert key.default in (value, None)
        assert key.doc.endswith(".")
        assert key.type
    described = {key.field.rpartition(".")[2] for key in describe_keys()}
    fields = {f.name for c in (config, config.settings) for f in dataclasses.fields(c)}
    told = {"root", "settings", "torch", "source", "partial", "by_folder", "ignore_noqa"}
    assert described == fields - told - {"numbers_may_vary"}  # which the checked program sets


def test_schema_covers_every_key() -> None:
    schema = json_schema()
    assert list(schema["properties"]) == [key.name for key in describe_keys()]
    assert schema["properties"]["scope"]["enum"] == ["compiled", "modules", "all"]
    assert schema["properties"]["exclude"]["items"] == {"type": "string"}
    assert not schema["additionalProperties"]


def test_lists_without_end_are_one_error(tmp_path: Path) -> None:
    (tmp_path / "tclint.toml").write_text("select = " + "[" * 50_000)
    with pytest.raises(ConfigError, match="not valid TOML: too deeply nested"):
        load_config(tmp_path)


def test_a_code_that_was_removed_names_what_to_use_instead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(gone.CODES, "TCL199", "TCL101 reports it")  # type: ignore[attr-defined]
    told = "no rule has the code 'TCL199'; it was removed: TCL101 reports it"
    with pytest.raises(ConfigError, match=re.escape(told)):
        check_codes(Config(tmp_path, ignore=("TCL199",)), KNOWN)
    path = tmp_path / "a.py"
    path.write_text("x = 1  # tclint: ignore[TCL199]\n", encoding="utf-8")
    [found] = check_files([path], Config(tmp_path)).results
    assert (found.diagnostic.code, found.diagnostic.message) == ("TCL003", f"N{told[1:]}")


def test_a_key_that_was_removed_names_what_to_use_instead(tmp_path: Path) -> None:
    file = write(tmp_path / "tclint.toml", 'preset = "library"\n')
    with pytest.raises(ConfigError, match="unknown key 'preset'; it was removed: `leave-out`"):
        read_config(file)

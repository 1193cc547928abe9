"""Files that somebody else wrote: read by one reader, and nothing in them ends a run badly."""

from __future__ import annotations

import ast
import gzip
import json
import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.attack import recordings
from tclint import files
from tclint.json_text import parse_json
from tclint.pytest_plugin.budget import BudgetError, read_budget
from tclint.run.spans import read_spans
from tests.cli_runs import BREAKS, tclint

DIGITS = "1" * 5_000
OPENS = {"open", "read_text", "read_bytes", "fdopen"}
READERS = {"json", "tomllib", "yaml", "pickle", "marshal", "gzip", "zlib"}
ALLOWED = {
    "agents/commands.py": "what our own child printed",
    "cache/envelope.py": "what `files.read_own` has read, held to its digest",
    "cache/store.py": "writes a file that it has made",
    "cli/terminal.py": "the null device",
    "fleet/environment.py": "what our own child printed",
    "crashes.py": "writes a file that it has made",
    "fleet/store.py": "the store's lock and its own rows",
    "files.py": "the reader",
    "json_text.py": "the reader of JSON",
    "lint/pages.py": "pages of installed rules",
    "lint/searches.py": "what `files.read_own` has read, unpacked to a limit",
    "review/annotations.py": "appends to a page of GitHub's runner",
    "review/client.py": "an answer that is read to a limit",
    "review/sarif.py": "what we have written a moment ago",
    "run/launch.py": "writes the output of a command",
    "scratch.py": "a folder of our own, which it locks",
    "source/notebook.py": "a part of what the reader has read",
    "source/write.py": "writes a file that it has made",
    "toml_text.py": "the reader of TOML",
    "torch_bounds/conda_yaml.py": "what the reader has read",
    "torch_facts/lifetimes.py": "a table of this package",
    "torch_facts/table.py": "a table of this package",
    "verify/descendants.py": "the system's own files on processes",
    "verify/keeper.py": "a pipe of our own, and the system's own files",
    "verify/probe.py": "writes a file that it has made",
    "verify/process.py": "a line of our own child, which is held to its shape",
    "verify/trees.py": "an archive that git writes",
    "verify/worker.py": "its own streams",
}
"""What opens a file, or reads JSON, in another way than all others, and why."""


def test_files_are_opened_by_the_reader_alone(repository: Path) -> None:
    root = repository / "tclint"
    found = {
        path.relative_to(root).as_posix()
        for path in root.rglob("*.py")
        if path.relative_to(root).parts[0] != "recorder"  # it runs in another process
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.Call) and _opens(node.func)
    }
    assert found == {*ALLOWED}


def _opens(called: ast.expr) -> bool:
    """Whether this may open a file; the reader's own functions are called by their bare names."""
    match called:
        case ast.Name(id="open"):
            return True
        case ast.Attribute(value=ast.Name(id="files")):
            return False
        case ast.Attribute(value=ast.Name(id=module), attr=name) if module in READERS:
            return name in {"load", "loads", "decompress"}
        case ast.Attribute(attr=name):
            return name in OPENS
    return False


NUMBERS = ["1e999", "-1e999", "NaN", "Infinity", "-Infinity", "1" * 400, "-" + "1" * 400, DIGITS,
           "1." + DIGITS, "1e308", "0." + DIGITS + "e9"]  # fmt: skip


@pytest.mark.parametrize("number", NUMBERS)
def test_numbers_that_nobody_can_mean_are_refused(number: str) -> None:
    with pytest.raises(ValueError, match=r"digits|too large|no number"):
        parse_json(f'{{"a": [1, {number}]}}')


@pytest.mark.parametrize("number", NUMBERS)
def test_where_nobody_looks_at_numbers_they_may_be_any(number: str) -> None:
    assert parse_json(f'["x", {number}]', numbers=False)[0] == "x"


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "", "{", b"\xff", '"\n"'])
def test_what_is_no_json_is_one_kind_of_error(text: str | bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_json(text)


def test_what_people_write_is_read() -> None:
    text = '{"a": [1.5e-300, -0, 1700000000000000000, 9223372036854775807, true, null, "\\u00e4"]}'
    assert parse_json(text) == json.loads(text) == parse_json(text.encode())


def kinds(folder: Path) -> Iterator[tuple[str, Path]]:
    """What may be in the place of a file."""
    os.mkfifo(folder / "pipe")
    yield "pipe", folder / "pipe"
    yield "device", Path("/dev/zero")
    yield "folder", folder
    (folder / "loop").symlink_to("loop")
    yield "loop", folder / "loop"
    (folder / "zero").symlink_to("/dev/zero")
    yield "link to a device", folder / "zero"
    yield "long name", folder / ("a" * 300)
    yield "NUL", folder / "a\0b"
    yield "half of a character", folder / "a\ud800"
    (folder / "sparse").write_bytes(b"")
    os.truncate(folder / "sparse", 1 << 38)
    yield "256 GiB", folder / "sparse"


def test_what_is_no_file_of_a_sensible_size_is_an_error_of_the_system(tmp_path: Path) -> None:
    for what, path in kinds(tmp_path):
        with pytest.raises(OSError, match=r"."):
            files.read_bytes(path)
        assert files.is_file(path) is (what == "256 GiB")
        nothing = {"loop", "long name", "NUL", "half of a character"}
        assert files.exists(path) is (what not in nothing)


def test_a_packed_trace_is_unpacked_to_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    span = {"ph": "X", "name": "x", "ts": 1, "dur": 1}
    packed = gzip.compress(json.dumps({"traceEvents": [span] * 9_000}).encode())
    (tmp_path / "trace.json.gz").write_bytes(packed)
    assert len(read_spans(tmp_path, "trace.json.gz")) == 9_000
    monkeypatch.setattr("tclint.run.spans.LARGEST", 10_000)
    with pytest.raises(OSError, match="over the limit"):
        read_spans(tmp_path, "trace.json.gz")
    (tmp_path / "cut.json.gz").write_bytes(packed[:50])
    with pytest.raises(ValueError, match="cannot be unpacked"):
        read_spans(tmp_path, "cut.json.gz")


@pytest.mark.parametrize("name", ["../outside.json", "/etc/passwd", "a/b.json", "", "."])
def test_a_trace_is_a_file_of_its_recording(tmp_path: Path, name: str) -> None:
    (tmp_path / "outside.json").write_text('{"traceEvents": []}')
    (tmp_path / "recording").mkdir()
    with pytest.raises((ValueError, OSError)):
        read_spans(tmp_path / "recording", name)


METADATA = [
    ("requirements.txt", f"torch==2.{DIGITS}\n"),
    ("requirements.txt", f"torch>={DIGITS}\n"),
    ("requirements.txt", f"torch<=2.1,>=2.{DIGITS}.1\n"),
    ("requirements.txt", f"https://example.org/torch-{DIGITS}-cp311-cp311-linux_x86_64.whl\n"),
    ("requirements.txt", f"-r {'a' * 300}.txt\ntorch\n"),
    ("pyproject.toml", f'[project]\nname = "x"\ndependencies = ["torch==2.{DIGITS}"]\n'),
    ("pyproject.toml", f'[tool.poetry.dependencies]\ntorch = "^2.{DIGITS}"\n'),
    ("pyproject.toml", f'[tool.poetry.dependencies]\ntorch = "~{DIGITS}"\n'),
    ("pyproject.toml", f'[tool.poetry.dependencies]\ntorch = "2.{DIGITS}"\n'),
    ("pyproject.toml", f"[project]\ntorch = {DIGITS}\n"),
    (
        "pyproject.toml",
        (
            '[project]\ndynamic = ["dependencies"]\n[tool.setuptools.dynamic]\n'
            f'dependencies = {{ file = ["{"a" * 300}", "a\\u0000b"] }}\n# torch\n'
        ),
    ),
    ("setup.cfg", f"[options]\ninstall_requires =\n  torch>=2.{DIGITS}\n"),
    ("setup.cfg", f"[options]\ninstall_requires = file: {'a' * 300}\n# torch\n"),
    ("setup.py", f"from setuptools import setup\nsetup(install_requires=['torch>={DIGITS}'])\n"),
    (
        "setup.py",
        (
            "import torch\nfrom packaging.version import Version\n"
            f"assert Version(torch.__version__) >= Version('{DIGITS}.1')\n"
        ),
    ),
    ("environment.yml", f"dependencies:\n  - pytorch=2.{DIGITS}\n"),
    ("environment.yml", f"dependencies:\n  - pytorch\n  - x: {DIGITS}\n"),
    ("poetry.lock", f'[[package]]\nname = "torch"\nversion = "2.{DIGITS}"\n'),
    ("uv.lock", f'[[package]]\nname = "torch"\nversion = "{DIGITS}"\n'),
]


@pytest.mark.parametrize(("name", "text"), METADATA)
def test_metadata_with_endless_numbers_and_names_stops_no_check(
    tmp_path: Path, name: str, text: str
) -> None:
    (tmp_path / name).write_text(text)
    (tmp_path / "net.py").write_text(BREAKS)
    done = tclint("check", "net.py", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    assert "an error in tclint" not in done.stderr
    assert "TCL101" in done.stdout
    assert len(done.stderr) < 2_000


CONFIGURED = [
    'extend = "a\\u0000b"', f'extend = "{"a" * 300}"', 'extend = "~nobody-has-this-name/x.toml"',
    'python-environment = "a\\u0000b"', f'python-environment = "{"a" * 300}"',
    'python-environment = "~nobody-has-this-name"', f'target-torch = "2.{DIGITS}"',
    f"target-torch = {DIGITS}", f'min-torch = "{DIGITS}"', 'scope = "\\u0000"',
]  # fmt: skip


@pytest.mark.parametrize("line", CONFIGURED)
def test_a_configuration_with_impossible_names_and_numbers_is_one_error(
    tmp_path: Path, line: str
) -> None:
    (tmp_path / "tclint.toml").write_text(line + "\n")
    (tmp_path / "net.py").write_text(BREAKS)
    done = tclint("check", "net.py", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "tclint.toml" in done.stderr
    assert "Traceback" not in done.stderr
    assert "an error in tclint" not in done.stderr


ARGUMENTS = [
    ("check", "--config", "a" * 300),
    ("check", "--config", "a" * 300 + "=1"),
    ("check", "--explain-types", f"net.py:{DIGITS}"),
    ("check", "--explain-types", f"net.py:1:{DIGITS}"),
    ("check", "--explain-types", "a" * 300 + ":1"),
    ("check", "a" * 300),
    ("check", "a/" * 3_000),
    ("check", "--baseline", "a" * 300),
    ("check", "--target-torch", f"2.{DIGITS}"),
    ("check", "--diff-only", "a" * 300),
    ("check", "--output-file", "a" * 300),
    ("fix", "a" * 300),
    ("upgrade", "--from", DIGITS, "--to", "2.6"),
    ("trace", "a" * 300),
    ("run", "--compare", "a" * 300, "net.py"),
    ("rule", "a" * 300),
    ("a" * 300,),
    ("review", "--repo", "a" * 300),
    ("fleet", "report", "--store", "a" * 300),
    ("fleet", "run", "a" * 300),
]


@pytest.mark.parametrize("arguments", ARGUMENTS, ids=lambda given: " ".join(given)[:40])
def test_an_argument_that_is_too_long_is_one_error(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    (tmp_path / "net.py").write_text(BREAKS)
    done = tclint(*arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stderr[-600:]
    assert done.stdout in {"", "No findings, but 1 file could not be checked.\n"}
    assert "Traceback" not in done.stderr
    assert "an error in tclint" not in done.stderr


@pytest.mark.parametrize("entry", ["a" * 300, "a\\u0000b", "a\\ud800b", "../x"])
def test_a_baseline_may_name_what_no_file_is_called(tmp_path: Path, entry: str) -> None:
    (tmp_path / "net.py").write_text(BREAKS)
    tclint("check", "--baseline", "b.json", "--update-baseline", cwd=tmp_path)
    text = (tmp_path / "b.json").read_text()
    (tmp_path / "b.json").write_text(text.replace("net.py", entry))
    for more in ((), ("--update-baseline",)):
        done = tclint("check", "--baseline", "b.json", *more, cwd=tmp_path)
        assert done.returncode in {0, 1, 2}, done.stderr
        assert "Traceback" not in done.stderr
        assert "an error in tclint" not in done.stderr


READ = [
    ("trace", "{}"),
    ("run", "--compare", "{}", "{}"),
    ("check", "--baseline", "{}"),
    ("check", "--config", "{}"),
    ("fleet", "run", "{}"),
    ("fleet", "report", "--store", "{}"),
]


@pytest.mark.parametrize("command", READ, ids=" ".join)
def test_what_is_no_file_is_refused_by_every_command(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    (tmp_path / "net.py").write_text(BREAKS)
    (tmp_path / "kinds").mkdir()
    for what, path in kinds(tmp_path / "kinds"):
        if what in {"NUL", "half of a character"}:
            continue  # no argument has one
        given = [part.format(path) for part in command]
        done = tclint(*given, cwd=tmp_path, timeout=30)
        assert (done.returncode, done.stdout) == (2, ""), (what, done.stderr[-600:])
        assert "Traceback" not in done.stderr, what
        assert "an error in tclint" not in done.stderr, what


SLOW = [
    'File "/x/' * 20_000 + "site-packages",
    'File "' * 20_000,
    'File "x", line ' * 20_000,
    "Graph break in user code at " * 5_000,
    "x" * 200_000,
    "0/0: a  # " + "x" * 200_000 + ".p:1 in f",
    "Recompiling function f in " * 5_000,
]


@pytest.mark.parametrize("text", SLOW, ids=lambda text: text[:20])
@pytest.mark.parametrize("where", ["line", "break", "recompiles", "structured"])
def test_no_line_of_a_log_takes_long(tmp_path: Path, text: str, where: str) -> None:
    head = "V1125 10:00:00.000000 7 torch/_dynamo/x.py:1] "
    artifact = {"artifact": {"name": "dynamo_graph_break_reason"}, "frame_id": 0}
    metrics = {"compilation_metrics": {"co_name": "f", "recompile_reason": text}}
    lines = {
        "line": text,
        "break": f"{head}[0/0] [__graph_breaks] {text}",
        "recompiles": f"{head}[0/0] [__recompiles] Recompiling function f in {text}",
        "structured": f"{head}{json.dumps(artifact)}\n\t{text}\n{head}{json.dumps(metrics)}",
    }
    (tmp_path / "log").write_text(lines[where] + "\n")
    done = tclint("trace", "log", cwd=tmp_path, timeout=10)
    assert done.returncode in {0, 2}, done.stderr
    assert "Traceback" not in done.stderr
    assert "an error in tclint" not in done.stderr


def test_honest_recordings_are_read_whole(tmp_path: Path) -> None:
    """What the attack damages is what the commands read: else it would prove nothing."""
    (tmp_path / "train.py").write_text(recordings.SCRIPT)
    recordings.honest(tmp_path)
    for path in ("recording", "trace", "logs.txt"):
        done = tclint("trace", path, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "train.py:6" in done.stdout
        assert "could not be read" not in done.stdout
    done = tclint("run", "--compare", "before.json", "after.json", cwd=tmp_path)
    assert (done.returncode, "the same" in done.stdout) == (0, True), done.stderr


@pytest.mark.parametrize("number", range(40))
def test_nothing_in_a_forged_recording_ends_a_command_badly(tmp_path: Path, number: int) -> None:
    reader = recordings.READERS[number % 4]
    _, bad = recordings.attacked(reader, tmp_path / "x", random.Random(f"t:{number}"))
    assert bad == []


BUDGETS = [
    "", "[]", "{", '{"tests": []}', '{"tests": {"a": []}}', '{"tests": {"a": {"breaks": []}}}',
    '{"tests": {"a": {"breaks": 1e999}}}', '{"tests": {"a": {"breaks": ' + DIGITS + "}}}",
    '{"tests": {"a": {"breaks": NaN}}}', '{"tests": ' * 50_000, '{"tests": {"a": {"breaks": "x"}}}',
]  # fmt: skip


@pytest.mark.parametrize("text", BUDGETS, ids=lambda text: text[:40])
def test_a_forged_budget_is_one_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "file").write_text(text)
    with pytest.raises(BudgetError, match=r"not a budget that tclint wrote .*delete it"):
        read_budget(tmp_path / "file")


def test_a_budget_is_a_file(tmp_path: Path) -> None:
    for what, path in kinds(tmp_path):
        if what in {"pipe", "device", "folder", "link to a device", "256 GiB"}:
            with pytest.raises(BudgetError):
                read_budget(path)

"""``setup.cfg`` and the literals of ``setup.py``."""

from __future__ import annotations

import ast
import configparser
import re
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from tclint.files import is_file
from tclint.torch_bounds.releases import MOST_DIGITS, BoundsError
from tclint.torch_bounds.requirements_txt import listed
from tclint.torch_bounds.statements import Kind, Requirement, Statement, requirements, statement
from tclint.torch_bounds.text import names_torch, read_text

_NEEDED: Final = "install_requires"
_EXTRAS: Final = "extras_require"
_DEPTH: Final = 20


def setup_cfg(file: Path) -> list[Statement]:
    """What setup.cfg says of torch.

    Raises:
        BoundsError: it cannot be read or understood.
    """
    text = read_text(file)
    if not names_torch(text) and "file:" not in text:
        return []
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
    except configparser.Error as error:
        raise BoundsError(f"cannot be parsed: {' '.join(str(error).split())}") from error
    lists = [(Kind.NEEDED, parser.get("options", _NEEDED, fallback=""))]
    if parser.has_section(f"options.{_EXTRAS}"):
        lists += [(Kind.OPTIONAL, said) for _, said in parser.items(f"options.{_EXTRAS}")]
    found = [(kind, _of_value(said, file.parent)) for kind, said in lists]
    return [statement(file, kind, said) for kind, said in found if said]


def _of_value(said: str, folder: Path) -> list[Requirement]:
    if said.strip().startswith("file:"):
        names = said.strip().removeprefix("file:").split(",")
        paths = [folder / name.strip() for name in names]
        return [each for path in paths if is_file(path) for each in listed(path).all]
    return requirements(re.sub(r"(^|\s)#.*", "", line) for line in said.splitlines())


def setup_py(file: Path) -> list[Statement]:
    """What the literals of setup.py say of torch; what it computes is not known.

    Raises:
        BoundsError: it cannot be read or parsed, or a requirement cannot be understood.
    """
    text = read_text(file)
    if not names_torch(text):
        return []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the user's escapes and comparisons
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise BoundsError(f"cannot be parsed: {error}") from error
    names = _bound(tree)
    found: list[tuple[Kind, list[Requirement]]] = []
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and _last_name(call.func) == "setup":
            given = {keyword.arg: keyword.value for keyword in call.keywords}
            given |= _unpacked(given.get(None), names)
            if _NEEDED in given:
                found.append((Kind.NEEDED, requirements(_texts(given[_NEEDED], names))))
            if _EXTRAS in given:
                extras = _tables(given[_EXTRAS], names)
                found += [(Kind.OPTIONAL, requirements(_texts(e, names))) for e in extras]
    found.append((Kind.NEEDED, _asserted(tree, names)))
    return [statement(file, kind, said) for kind, said in found if said]


def _asserted(tree: ast.Module, names: Names) -> list[Requirement]:
    """What a setup.py refuses to run without: ``assert torch_version >= [1, 8]``."""
    found = []
    for node in tree.body:
        match node:
            case ast.Assert(
                test=ast.Compare(left=left, ops=[ast.GtE() | ast.Gt() as sign], comparators=[least])
            ) if _is_torch_version(left, names):
                numbers = _numbers(least)
                text = f">{'=' * isinstance(sign, ast.GtE)}{'.'.join(map(str, numbers))}"
                found += [Requirement(f"torch{text}", (text,))] if numbers else []
    return found


def _is_torch_version(node: ast.expr, names: Names) -> bool:
    given = names.get(node.id, ()) if isinstance(node, ast.Name) else (node,)
    return any("torch.__version__" in ast.unparse(value) for value in given)


def _numbers(node: ast.expr) -> list[int]:
    """The numbers in ``[1, 8]``, ``(1, 8)``, ``"1.8"`` and ``Version("1.8")``; else none."""
    match node:
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            values = [part.value for part in parts if isinstance(part, ast.Constant)]
            whole = len(values) == len(parts) and all(type(value) is int for value in values)
            return [value for value in values if isinstance(value, int)] if whole else []
        case ast.Constant(value=str(text)) | ast.Call(args=[ast.Constant(value=str(text))]):
            pieces = text.split(".")
            whole = all(piece.isdecimal() and len(piece) <= MOST_DIGITS for piece in pieces)
            return [int(piece) for piece in pieces] if whole else []
    return []


def _bound(tree: ast.Module) -> dict[str, list[ast.expr]]:
    """What is bound to each name, or stored in it, or added to it, anywhere in the file."""
    bound: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ):
                bound.setdefault(name, []).append(value)
            case ast.AugAssign(target=ast.Name(id=name), op=ast.Add(), value=value):
                bound.setdefault(name, []).append(value)
            case ast.Assign(
                targets=[ast.Subscript(value=ast.Name(id=name), slice=key)], value=value
            ):
                bound.setdefault(name, []).append(ast.Dict([key], [value]))
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=name), attr="append" | "extend" as method),
                args=[value],
            ):
                whole = value if method == "extend" else ast.List([value])
                bound.setdefault(name, []).append(whole)
    return bound


Names = Mapping[str, list[ast.expr]]


def _texts(node: ast.expr, names: Names, depth: int = 0) -> Iterator[str]:
    """The strings of a literal list, following names and sums."""
    if depth > _DEPTH:
        return
    match node:
        case ast.Constant(value=str(text)):
            yield from text.splitlines()  # setuptools takes lines as well
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
            for part in parts:
                yield from _texts(part, names, depth + 1)
        case ast.Starred(value=inner):
            yield from _texts(inner, names, depth + 1)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            yield from _texts(left, names, depth + 1)
            yield from _texts(right, names, depth + 1)
        case ast.Name(id=name):
            for value in names.get(name, ()):
                yield from _texts(value, names, depth + 1)
        case ast.Subscript(value=ast.Name() as owner, slice=ast.Constant(value=key)):
            for value in _tables(owner, names, key):
                yield from _texts(value, names, depth + 1)


def _tables(
    node: ast.expr, names: Names, wanted: object = None, depth: int = 0
) -> Iterator[ast.expr]:
    """The values of a literal dictionary, or of one key, following names."""
    if depth > _DEPTH:
        return
    match node:
        case ast.Dict(keys=keys, values=values):
            for key, value in zip(keys, values, strict=True):
                if wanted is None or (isinstance(key, ast.Constant) and key.value == wanted):
                    yield value
        case ast.Name(id=name):
            for value in names.get(name, ()):
                yield from _tables(value, names, wanted, depth + 1)


def _unpacked(node: ast.expr | None, names: Names) -> dict[str | None, ast.expr]:
    """The keywords in ``setup(**settings)``."""
    given: dict[str | None, ast.expr] = {}
    if node is not None:
        for name in (_NEEDED, _EXTRAS):
            values = [*_tables(node, names, name)]
            given |= {name: values[-1]} if values else {}
    return given


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""

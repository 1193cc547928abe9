"""Programs in the words of other programs: disturbed in what they do, and laid out otherwise."""

from __future__ import annotations

import ast
import builtins
import random
import re
from collections.abc import Iterator

# A function that binds one of these anywhere raises UnboundLocalError where it reads it before.
_GIVEN = {*dir(builtins), *"torch nn F np math logger logging warnings self".split()}

_INSERTS = (
    "{v} = {v}",
    "{v}.add_(1)",
    "{v} *= 2",
    "{v} = {v} + 1",
    "{w} = {v}",
    "alias = {v}",
    "alias = {v}; {v}.mul_(2)",
    "if {v} is None:\n    return None",
    "print('here', flush=True)",
    "torch.rand(2)",
    "np.random.rand()",
    "del {v}",
    "inner = lambda: {v}",
    "assert {v} is not None",
    "def inner():\n    return {v}\n{w} = inner()",
    "global shared\nshared = {v}",
    "{v}: object = {v}",
    "[{v} for {v} in (1, 2)]",
    "(other := {v})",
    "match {v}:\n    case _: pass",
    "if {v} is {w}:\n    raise KeyError('same')",
    "{v}.zero_()",
    "with torch.no_grad():\n    {v} = {v} * 1",
    "logger.warning('seen')",
    "{w}, {v} = {v}, {w}",
    "alias = [{v}]\nalias[0] = alias[0] * 2",
    "for {v} in ({v}, {v}):\n    pass",
    "import math as {w}",
    "{v} = {v}.clone()",
    "{v} = {v}[:1]",
    "{v} = {v}.double()",
    "{v} = {v}.reshape(-1)",
    "{v}.requires_grad_()",
    "torch = torch",
    "x = {v}",
    "locals()",
    "{v} = str({v})",
    "if torch.is_grad_enabled():\n    {v} = {v}",
)
_WRAPS = (
    "for _ in range(2):\n    $",
    "while True:\n    $\n    break",
    "if True:\n    $",
    "try:\n    $\nfinally:\n    pass",
    "try:\n    $\nexcept Exception as error:\n    print(repr(error))",
    "with torch.no_grad():\n    $",
    "if {v} is not None:\n    $\nelse:\n    pass",
    "for _ in range(1):\n    $\nelse:\n    {v} = {v}",
    "with torch.enable_grad():\n    $",
    "if len(str({v})) > 3:\n    $",
    "try:\n    $\nexcept (RuntimeError, ValueError):\n    raise",
    "match 1:\n    case 1:\n        $",
)


def disturbed(code: str, chance: random.Random) -> str:
    """The program with a few statements more in its functions."""
    tree = ast.parse(code)
    functions = [n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef))]
    for _ in range(chance.randint(0, 2) if functions else 0):
        function = chance.choice(functions)
        blocks = [*_blocks(function)]
        block = chance.choice(blocks)
        names = sorted({n.id for n in ast.walk(function) if isinstance(n, ast.Name)} - _GIVEN)
        names += [a.arg for a in function.args.args if a.arg != "self"] * 3
        words = {key: chance.choice(names or ["x"]) for key in "vw"}
        place = chance.randrange(len(block) + 1)
        if chance.random() < 0.3 and place < len(block):
            block[place : place + 1] = _wrapped(chance.choice(_WRAPS), words, block[place])
        else:
            block[place:place] = ast.parse(chance.choice(_INSERTS).format(**words)).body
    return "\n" + ast.unparse(tree) + "\n"


def _blocks(function: ast.FunctionDef) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(function):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list) and block and not isinstance(node, ast.ClassDef):
                yield block


def _wrapped(template: str, words: dict[str, str], statement: ast.stmt) -> list[ast.stmt]:
    text = template.format(**words).replace("$", "PLACE")
    tree = ast.parse(text)
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            for number, one in enumerate(block if isinstance(block, list) else ()):
                if isinstance(one, ast.Expr) and ast.unparse(one) == "PLACE":
                    block[number] = statement
    return tree.body


def laid_out(code: str, chance: random.Random) -> str:
    """The same program with other blanks, comments, line ends and brackets."""
    if '"""' in code or "'''" in code:
        return code
    lines = code.split("\n")
    for change in (_joined, _one_line, _in_brackets, _commented):
        if chance.random() < 0.4:
            lines = change(lines, chance)
    step = chance.choice(["    ", "    ", "  ", "\t"])
    lines = [_indent(line) // 4 * step + line.lstrip(" ") for line in lines]
    return "\n".join(lines)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


_SIMPLE = re.compile(r" *(?:[a-z_.]+ (?:[-+*/]?=) |return |[a-z_.]+\()[^#]*[^:\\]$")


def _is_simple(line: str) -> bool:
    return bool(_SIMPLE.match(line)) and not line.lstrip().startswith(("@", "def", "class"))


def _joined(lines: list[str], chance: random.Random) -> list[str]:
    """Statements of a block on one line."""
    result: list[str] = []
    for line in lines:
        last = result[-1] if result else ""
        fits = _is_simple(line) and _is_simple(last) and _indent(line) == _indent(last) > 0
        if fits and chance.random() < 0.3:
            result[-1] = f"{last}; {line.lstrip()}" + chance.choice(["", ";"])
        else:
            result.append(line)
    return result


def _one_line(lines: list[str], chance: random.Random) -> list[str]:
    """Bodies behind their colon."""
    result: list[str] = []
    for number, line in enumerate(lines):
        above = result[-1] if result else ""
        below = lines[number + 1] if number + 1 < len(lines) else ""
        head = above.lstrip().startswith(("if ", "else:", "for ", "while ", "with "))
        alone = _indent(line) == _indent(above) + 4 and _indent(below) < _indent(line)
        if head and above.endswith(":") and alone and _is_simple(line) and chance.random() < 0.7:
            result[-1] = f"{above} {line.lstrip()}"
        else:
            result.append(line)
    return result


def _in_brackets(lines: list[str], chance: random.Random) -> list[str]:
    """Values over several lines."""
    result = []
    for line in lines:
        match = re.match(r"( *)((?:[a-z_.]+ = |return ))([^;#]+)$", line)
        if match and chance.random() < 0.4:
            indent, head, value = match.groups()
            cut = value.find(" ", chance.randrange(len(value)))
            plain = not re.search(r"[\"'\\]", value) and cut > 0
            form = chance.choice("(\\c")
            if form == "(" or not plain:
                result += [f"{indent}{head}(  # é", f"{indent}      {value}", f"{indent})"]
            elif form == "\\":
                result += [
                    f"{indent}{head}{value[:cut]} \\",
                    f"{indent}      {value[cut:].lstrip()}",
                ]
            else:
                result += [
                    f"{indent}{head}({value[:cut]}",
                    f"{indent}  # ünd",
                    f"{indent}   {value[cut:].lstrip()})",
                ]
        else:
            result.append(line)
    return result


def _commented(lines: list[str], chance: random.Random) -> list[str]:
    result = []
    for line in lines:
        if line.strip() and not line.rstrip().endswith("\\") and "(  # é" not in line:
            if chance.random() < 0.2 and (not result or not result[-1].endswith("\\")):
                result.append(" " * _indent(line) + "# größe → 1")
            if chance.random() < 0.2:
                result.append(line + "  # naïve")
                continue
        result.append(line)
    return result

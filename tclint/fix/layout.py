"""Break the lines that a fix made too long, the way black and ruff break them."""

from __future__ import annotations

import io
import itertools
import keyword
import tokenize
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from tclint.fix.project_style import style_of
from tclint.records import record
from tclint.source.file import split_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tclint.source.file import SourceFile

    Tokens = Sequence["_Token"]

_OPENING: Final = frozenset("([{")
_CLOSING: Final = frozenset(")]}")
_BLOCKS: Final = ("if", "elif", "while", "for", "with", "def", "class", "async", "match", "case")
_BLOCKS_TOO: Final = ("else", "try", "except", "finally")
_LED: Final = ("return", "assert", "if", "elif", "while", "for", "in")
_ASSIGNING: Final = frozenset(
    "= += -= *= /= //= %= @= &= |= ^= >>= <<= **=".split()  # the last one in a line counts
)
# What binds least is where a line is broken first.
_PRIORITY: Final[dict[str, int]] = {
    ",": 20,
    "if": 18,
    "else": 18,
    "or": 16,
    "and": 16,
    **dict.fromkeys(("<", ">", "==", "!=", "<=", ">=", "in", "is", "not"), 14),
    "|": 13,
    "^": 12,
    "&": 11,
    **dict.fromkeys(("<<", ">>"), 10),
    **dict.fromkeys("+-", 9),
    **dict.fromkeys(("*", "/", "//", "%", "@"), 8),
}
_COMMA: Final = 20
_COMPREHENSION: Final = 22
_STRING: Final = 15
_CHAINED: Final = 1
_LENGTH: Final = 100


@record(frozen=True)
class Shape:
    """How long lines may be, how far blocks are indented, and whether all has to be so."""

    length: int
    step: str = "    "
    strict: bool = False


@record(frozen=True)
class _Token:
    """One token with the blanks before it, where it is not the first in its row."""

    text: str
    space: str


@record(frozen=True)
class _Logical:
    """A logical line: its rows, and its tokens if it may be broken anew."""

    first: int
    last: int
    indent: str
    tokens: tuple[_Token, ...]


def shape_of(file: SourceFile, step: str) -> Shape:
    """The shape of a file's lines: as its project says, else as long as the file's own."""
    style = style_of(file.path)
    length = _longest(file) if style.line_length is None else style.line_length
    return Shape(length, step, style.is_formatted)


@lru_cache(maxsize=1)  # the edits of a file are made one after the other
def _longest(file: SourceFile) -> int:
    return max([_LENGTH, *(len(line.rstrip("\r\n")) for line in file.lines)])


def broken(code: str, before: str, shape: Shape) -> str:
    """``code`` with those of its lines broken that are new, compared with ``before``."""
    lines = split_lines(code)
    known = Counter(split_lines(before))
    seen = {line.strip() for line in known}
    changes: list[tuple[int, int, list[str]]] = []
    for logical in _logical_lines(code):
        rows = lines[logical.first - 1 : logical.last]
        if all(known[row] for row in rows) or not logical.tokens:
            continue
        added = [row.rstrip("\r\n") for row in rows if row.strip() not in seen]
        too_long = any(len(row) > shape.length for row in added)
        if shape.strict or too_long or any(map(_opens_twice, added)):
            end = rows[-1][len(rows[-1].rstrip("\r\n")) :]
            new = [line + end for line in _Breaker(shape).statement(logical)]
            if shape.strict or not too_long or max(map(len, new)) < max(map(len, rows)):
                changes.append((logical.first, logical.last, new))
    for first, last, new in reversed(changes):
        lines[first - 1 : last] = new
    return "".join(lines)


def _opens_twice(row: str) -> bool:
    """True for a call around what had brackets of its own, whose rows fit neither."""
    return len(row) > 1 and _OPENING.issuperset(row[-2:])


def _logical_lines(code: str) -> Iterator[_Logical]:
    tokens: list[tokenize.TokenInfo] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(code, newline="").readline):
            if token.type == tokenize.NEWLINE:
                yield _logical(tokens)
                tokens = []
            elif tokens or token.type not in _BETWEEN:
                tokens.append(token)
    except (tokenize.TokenError, SyntaxError):
        return


_BETWEEN: Final = (tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT)


def _logical(tokens: Sequence[tokenize.TokenInfo]) -> _Logical:
    first, last = tokens[0].start[0], tokens[-1].end[0]
    indent = tokens[0].line[: tokens[0].start[1]]
    made: list[_Token] = []
    place, above = tokens[0].start, ""
    for token in _with_whole_strings(tokens):
        if token.type == tokenize.NL:
            continue
        several = "\n" in token.string
        if token.type == tokenize.COMMENT or several:
            return _Logical(first, last, indent, ())
        space = token.line[place[1] : token.start[1]] if token.start[0] == place[0] else "\n"
        if space == "\n" and above.rstrip().endswith("\\"):
            return _Logical(first, last, indent, ())
        made.append(_Token(token.string, space))
        place, above = token.end, token.line
    is_simple = ";" not in [token.text for token in made] and _ends_well(made)
    return _Logical(first, last, indent, tuple(_joined(made)) if is_simple else ())


def _with_whole_strings(tokens: Sequence[tokenize.TokenInfo]) -> Iterator[tokenize.TokenInfo]:
    """The tokens with f-strings in one piece: since Python 3.12 they come in several."""
    start: tokenize.TokenInfo | None = None
    depth = 0
    for token in tokens:
        name = tokenize.tok_name[token.type]
        if name.endswith("STRING_START"):
            start, depth = start or token, depth + 1
        elif name.endswith("STRING_END") and start is not None:
            depth -= 1
            if depth == 0:
                text = "\n"
                if start.start[0] == token.end[0]:
                    text = token.line[start.start[1] : token.end[1]]
                yield start._replace(type=tokenize.STRING, string=text, end=token.end)
                start = None
        elif start is None:
            yield token


def _ends_well(tokens: Tokens) -> bool:
    """False for a block on the line of its head, and for heads that are broken otherwise."""
    first = tokens[0].text
    if first == "assert" and any(priority == _COMMA for _, priority in _delimiters(tokens)):
        return False  # formatters disagree about the message
    if first in ("def", "class", "async", "with", "match", "case", "@", "import", "from"):
        return False
    return first not in (*_BLOCKS, *_BLOCKS_TOO) or tokens[-1].text == ":"


def _joined(tokens: Tokens) -> Iterator[_Token]:
    """The tokens on one row, f-strings in one piece."""
    previous = ""
    for token in tokens:
        space = token.space
        if space == "\n":
            tight = previous in _OPENING or token.text in _CLOSING or "." in (previous, token.text)
            space = "" if tight else " "
        yield _Token(token.text, space)
        previous = token.text


class _Breaker:
    """Breaks one statement."""

    def __init__(self, shape: Shape) -> None:
        self._shape = shape

    def statement(self, logical: _Logical) -> list[str]:
        """The rows of a statement."""
        tokens, indent = _bare(logical.tokens), logical.indent
        if self._fits(indent, tokens) and not _has_magic_comma(tokens):
            return [indent + _text(tokens)]
        start = _start_of_value(tokens)
        head, value = tokens[:start], tokens[start:]
        tail: Tokens = ()
        if value and value[-1].text == ":":
            value, tail = value[:-1], value[-1:]
        if not head or self._can_omit_parentheses(indent, head, value):
            return self._right_hand(indent, tokens)
        if value[0].text == "(" and _match(value, 0) == len(value) - 1:
            return self._right_hand(indent, tokens)
        wrapped = (
            *head,
            _Token("(", " "),
            _Token(value[0].text, ""),
            *value[1:],
            _Token(")", ""),
            *tail,
        )
        return self._right_hand(indent, wrapped)

    def _can_omit_parentheses(self, indent: str, head: Tokens, value: Tokens) -> bool:
        priorities = [p for _, p in _delimiters(value)]
        opening = _last_bracket(value)
        if not priorities:
            return opening is not None
        if opening is None or priorities.count(max(priorities)) > 1:
            return False
        is_last = _match(value, opening) == len(value) - 1 and not _is_subscript(value, opening)
        return is_last and self._fits(indent, (*head, *value[: opening + 1]))

    def _right_hand(self, indent: str, tokens: Tokens) -> list[str]:
        """Break at the last bracket."""
        if self._fits(indent, tokens) and not _has_magic_comma(tokens):
            return [indent + _text(tokens)]
        opening = self._bracket(indent, tokens)
        if opening is None:
            places = [place for place, priority in _delimiters(tokens) if priority == _STRING]
            ways = zip([0, *places], [*places, len(tokens)], strict=True)
            return [indent + _text(tokens[start:end]) for start, end in ways]
        closing = _match(tokens, opening)
        is_literal = opening == 0 or not _is_operand(tokens[opening - 1].text)
        body = self._body(indent + self._shape.step, tokens[opening + 1 : closing], is_literal)
        head, tail = indent + _text(tokens[: opening + 1]), indent + _text(tokens[closing:])
        return [head, *body, tail]

    def _bracket(self, indent: str, tokens: Tokens) -> int | None:
        """The last bracket that all before it leaves room for, along the calls at the end."""
        last = place = _last_bracket(tokens)
        while place is not None and not self._fits(indent, tokens[: place + 1]):
            earlier = _last_bracket(tokens[:place])
            if earlier is None or any(_delimiters(tokens[_match(tokens, earlier) + 1 : place])):
                return last
            place = earlier
        return place

    def _body(self, indent: str, body: Tokens, is_literal: bool) -> list[str]:
        """The rows between two brackets: those of lists get one for each element."""
        delimiters = [*_delimiters(body)]
        most = max((priority for _, priority in delimiters), default=0)
        is_listed = most == _COMMA and (is_literal or body[-1].text == ",")
        if self._fits(indent, body) and not is_listed and not _has_magic_comma(body):
            return [indent + _text(body)]
        places = [place for place, priority in delimiters if priority == most]
        if not places:
            return self._right_hand(indent, body)
        if most == _COMMA:
            return self._listed(indent, body, places)
        rows: list[str] = []
        for start, end in zip([0, *places], [*places, len(body)], strict=True):
            if start < end:
                rows += self._right_hand(indent, body[start:end])
        return rows

    def _listed(self, indent: str, body: Tokens, places: Sequence[int]) -> list[str]:
        """One element a row, each with its comma."""
        rows: list[str] = []
        for start, end in zip([-1, *places], [*places, len(body)], strict=True):
            element = body[start + 1 : end]
            if element:
                rows += self._right_hand(indent, (*element, _Token(",", "")))
        return rows

    def _fits(self, indent: str, tokens: Tokens) -> bool:
        return len(indent) + len(_text(tokens)) <= self._shape.length


def _bare(tokens: Tokens) -> Tokens:
    """The tokens without parentheses that only held the rows of a value together."""
    start, end = _start_of_value(tokens), len(tokens) - (tokens[-1].text == ":")
    value = tokens[start:end]
    if start == 0 or not value or value[0].text != "(" or _match(value, 0) != len(value) - 1:
        return tokens
    inner = value[1:-1]
    told = {token.text for token in inner}
    most = max((priority for _, priority in _delimiters(inner)), default=0)
    if not inner or most >= _COMMA or not told.isdisjoint((":=", "yield", "await", "lambda")):
        return tokens
    return (*tokens[:start], _Token(inner[0].text, " "), *inner[1:], *tokens[end:])


def _text(tokens: Tokens) -> str:
    return "".join(token.space + token.text for token in tokens).lstrip(" ")


def _start_of_value(tokens: Tokens) -> int:
    """Where the expression of a statement starts that black may put into parentheses."""
    if tokens[0].text == "for":
        return _start_of_iterable(tokens)
    depth, start = 0, 0
    for place, token in enumerate(tokens):
        depth += (token.text in _OPENING) - (token.text in _CLOSING)
        if depth == 0 and token.text in _ASSIGNING:
            start = place + 1
    if start == 0 and tokens[0].text in _LED:
        start = 1
    return start


def _start_of_iterable(tokens: Tokens) -> int:
    """Behind the `in` of a loop's head: what stands before it are targets."""
    depth = 0
    for place, token in enumerate(tokens):
        if depth == 0 and token.text == "in":
            return place + 1
        depth += (token.text in _OPENING) - (token.text in _CLOSING)
    return 0


def _delimiters(tokens: Tokens) -> Iterator[tuple[int, int]]:
    """The places outside brackets where a line may be broken."""
    chained = [*_chained(tokens)]
    yield from ((place, _CHAINED) for place in chained if len(chained) > 1)
    depth, operand, looping = 0, False, False
    for place, token in enumerate(tokens):
        text = token.text
        depth -= text in _CLOSING
        if depth == 0 and (text == "for" or (looping and text == "if")):
            yield place, _COMPREHENSION
            looping, operand = True, False
            continue
        if depth == 0 and place and _is_string(text) and _is_string(tokens[place - 1].text):
            yield place, _STRING
        if depth == 0 and text == "lambda":
            return  # all that follows is its own
        if depth == 0 and text in _PRIORITY and (operand or text in ("if", "else")):
            behind = tokens[place - 1].text if place else ""
            if not (text in ("in", "not") and (looping or behind in ("not", "is"))):
                yield place, _PRIORITY[text]
        depth += text in _OPENING
        operand = text in _CLOSING or not (
            text in _PRIORITY or text in _OPENING or text in _ASSIGNING or keyword.iskeyword(text)
        )
        operand = operand or text in ("None", "True", "False")


def _chained(tokens: Tokens) -> Iterator[int]:
    """The dots outside brackets that are behind a call: two of them make a chain."""
    depth = 0
    for place, token in enumerate(tokens):
        if depth == 0 and token.text == "." and place and tokens[place - 1].text in _CLOSING:
            yield place
        depth += (token.text in _OPENING) - (token.text in _CLOSING)


def _is_string(text: str) -> bool:
    return text[-1] in "'\""


def _last_bracket(tokens: Tokens) -> int | None:
    """The last opening bracket outside others that holds something."""
    place = len(tokens) - 1
    while place >= 0:
        if tokens[place].text in _CLOSING:
            opening = _match_back(tokens, place)
            if place - opening > 1:
                return opening
            place = opening
        place -= 1
    return None


def _match(tokens: Tokens, opening: int) -> int:
    depth = 0
    for place in range(opening, len(tokens)):
        depth += (tokens[place].text in _OPENING) - (tokens[place].text in _CLOSING)
        if depth == 0:
            return place
    return len(tokens) - 1


def _match_back(tokens: Tokens, closing: int) -> int:
    depth = 0
    for place in range(closing, -1, -1):
        depth += (tokens[place].text in _CLOSING) - (tokens[place].text in _OPENING)
        if depth == 0:
            return place
    return 0


def _has_magic_comma(tokens: Tokens) -> bool:
    """True where somebody ended a list with a comma, which asks for one element a row."""
    return any(
        one.text == "," and other.text in _CLOSING and not _is_single(tokens, place)
        for place, (one, other) in enumerate(itertools.pairwise(tokens))
    )


def _is_single(tokens: Tokens, comma: int) -> bool:
    """True for `(x,)`, whose comma makes the tuple, and for `x[1,]`."""
    opening = _match_back(tokens, comma + 1)
    inside = [place for place, _ in _delimiters(tokens[opening + 1 : comma])]
    is_call = opening > 0 and tokens[opening].text == "(" and _is_operand(tokens[opening - 1].text)
    return (tokens[opening].text == "[" and opening > 0) or (not inside and not is_call)


def _is_subscript(tokens: Tokens, opening: int) -> bool:
    return tokens[opening].text == "[" and opening > 0 and _is_operand(tokens[opening - 1].text)


def _is_operand(text: str) -> bool:
    return text in _CLOSING or (text.isidentifier() and not keyword.iskeyword(text))

"""Ways to break a program: bytes, tokens, lines, encodings."""

from __future__ import annotations

import io
import random
import tokenize
from collections.abc import Callable

LARGEST = 20_000
Mutation = Callable[[bytes, bytes, random.Random], bytes]
ODD = (
    b"\x00", b"\xff", b"\r", b"\x0c", b"\t", b"\\", b"'''", b"f'{", b"\xe2\x80\xa8",
    b"\xef\xbb\xbf",
    b"# -*- coding: utf-7 -*-\n", b"# coding: latin-1\n", b"# tclint: ignore[", b"# noqa: TCL101",
    b"*", b"**", b":=", b"lambda: ", b"await ", b"yield ", b"async ", b"@torch.compile\n", b"...",
    b"torch.compile(", b".item()", b"[None]", b"match x:\n", b"type X = int\n", b"global x\n",
)  # fmt: skip
WORDS = (
    "self", "x", "torch", "nn", "forward", "None", "super", "print", "range", "tensor", "item",
    "shape", "compile", "Module", "__init__", "lambda", "return", "0", "-1", "''", "()", "[]",
)  # fmt: skip


def flip(data: bytes, other: bytes, chance: random.Random) -> bytes:
    """Change some bytes."""
    changed = bytearray(data)
    for _ in range(chance.randint(1, 8)):
        if changed:
            changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


def truncate(data: bytes, other: bytes, chance: random.Random) -> bytes:
    """Keep a beginning, or an end."""
    place = chance.randint(0, len(data))
    return data[:place] if chance.random() < 0.7 else data[place:]


def splice(data: bytes, other: bytes, chance: random.Random) -> bytes:
    """Put a stretch of another program into this one."""
    place, start = chance.randint(0, len(data)), chance.randint(0, len(other))
    return data[:place] + other[start : start + chance.randint(1, 400)] + data[place:]


def insert(data: bytes, other: bytes, chance: random.Random) -> bytes:
    """Put something odd somewhere, or in front."""
    place = 0 if chance.random() < 0.2 else chance.randint(0, len(data))
    return data[:place] + chance.choice(ODD) + data[place:]


def shuffle(data: bytes, other: bytes, chance: random.Random) -> bytes:
    """Repeat, drop or swap lines: the likeliest to stay Python."""
    lines = data.splitlines(keepends=True)
    for _ in range(chance.randint(1, 4)):
        if len(lines) > 1:
            one, two = chance.randrange(len(lines)), chance.randrange(len(lines))
            match chance.randrange(3):
                case 0:
                    lines.insert(one, lines[two])
                case 1:
                    del lines[one]
                case _:
                    lines[one], lines[two] = lines[two], lines[one]
    return b"".join(lines)


def tokens(data: bytes, other: bytes, chance: random.Random) -> bytes:
    """Delete, repeat or replace tokens inside lines."""
    try:
        found = [*tokenize.tokenize(io.BytesIO(data).readline)]
    except (tokenize.TokenError, SyntaxError, ValueError, LookupError):
        return shuffle(data, other, chance)
    names = [t for t in found if t.type in {tokenize.NAME, tokenize.NUMBER, tokenize.OP}]
    lines = [line.decode("utf-8", "surrogateescape") for line in data.splitlines(keepends=True)]
    for token in chance.sample(names, min(len(names), chance.randint(1, 6))):
        row, (start, end) = token.start[0] - 1, (token.start[1], token.end[1])
        line = lines[row]
        new = chance.choice(["", token.string * 2, chance.choice(WORDS), chance.choice(WORDS)])
        lines[row] = line[:start] + new + line[end:]
    return "".join(lines).encode("utf-8", "surrogateescape")


def recode(data: bytes, other: bytes, chance: random.Random) -> bytes:
    """The same text in another encoding, with or without saying so."""
    name = chance.choice(["utf-16", "utf-32", "latin-1", "cp1252", "utf-7", "utf-8-sig"])
    line = f"# -*- coding: {name} -*-\n" if chance.random() < 0.5 else ""
    return (line + data.decode("utf-8", "replace")).encode(name, "replace")


MUTATIONS: tuple[Mutation, ...] = (
    flip, truncate, splice, insert, shuffle, shuffle, tokens, tokens, tokens, recode,
)  # fmt: skip


def mutated(data: bytes, other: bytes, chance: random.Random) -> bytes:
    """One or several mutations of a stretch of a program."""
    if len(data) > LARGEST:
        lines = data.splitlines(keepends=True)
        start = chance.randrange(len(lines))
        data = b"".join(lines[start : start + 300])
    for _ in range(chance.choice([1, 1, 1, 2, 3])):
        data = chance.choice(MUTATIONS)(data, other, chance)
    return data

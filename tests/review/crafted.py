"""Objects that Git's own commands refuse to write."""

from __future__ import annotations

import zlib
from hashlib import sha1

from tests.review_repository import Repository


def put_tree(repository: Repository, *entries: tuple[bytes, bytes, str]) -> str:
    """Write a tree that Git's own commands refuse to write: ``(mode, name, object)``."""
    content = b"".join(
        mode + b" " + name + b"\0" + bytes.fromhex(object_id) for mode, name, object_id in entries
    )
    whole = b"tree %d\0" % len(content) + content
    name = sha1(whole, usedforsecurity=False).hexdigest()
    file = repository.folder / ".git" / "objects" / name[:2] / name[2:]
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(zlib.compress(whole))
    return name


def put_commit(repository: Repository, tree: str) -> str:
    commit = repository.git("commit-tree", tree, "-p", "HEAD", "-m", "crafted")
    repository.git("update-ref", "HEAD", commit)
    return commit


def put_large_blob(repository: Repository, size: int) -> str:
    """A blob of spaces, written without ever holding it."""
    head, chunk = b"blob %d\0" % size, b" " * 1024**2
    digest, packer = sha1(head, usedforsecurity=False), zlib.compressobj(1)
    parts = [packer.compress(head)]
    for _ in range(size // len(chunk)):
        digest.update(chunk)
        parts.append(packer.compress(chunk))
    name = digest.hexdigest()
    file = repository.folder / ".git" / "objects" / name[:2] / name[2:]
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(b"".join((*parts, packer.flush())))
    return name


def put_blob(repository: Repository, content: bytes) -> str:
    file = repository.folder.parent / "blob"
    file.write_bytes(content)
    return repository.git("hash-object", "-w", str(file))

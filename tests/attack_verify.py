"""``tclint verify`` whose children are copies: the process that they are copies of is ours, too."""

from __future__ import annotations

import pytest

from tclint.cli import main
from tests import verify_children

if __name__ == "__main__":
    verify_children.copy_children(pytest.MonkeyPatch())
    main()
else:
    verify_children.prepare()

"""Imports that nothing in their file uses: left alone where another file has them of it, which imports everything of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlint.api import lint

CORE = "import torch\nfrom torch.autograd import Variable\n\n\ndef scale(x):\n    return x * 2\n"


@pytest.mark.parametrize(
    ("other", "count"),
    [
        ("from .core import *\n\ndef run(x):\n    return Variable(scale(x))\n", 0),
        ("from net.core import *\n\ndef run(x):\n    return Variable(scale(x))\n", 0),
        ("from .core import *\n\ndef run(x):\n    return scale(x)\n", 1),
        ("from torch.autograd import Variable\nfrom .core import *\n\ndef run(x):\n    return Variable(scale(x))\n", 1),
        ("from .core import scale\n\ndef run(Variable):\n    return scale(Variable)\n", 1),
        ("from .there.core import *\n\ndef run(x):\n    return Variable(scale(x))\n", 1),
    ],
)
def test_an_import_for_another_file(other: str, count: int, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    package = tmp_path / "net"
    (package / "there").mkdir(parents=True)
    for name in ("__init__.py", "there/__init__.py", "there/core.py"):
        (package / name).write_text("")
    (package / "core.py").write_text(CORE)
    (package / "other.py").write_text(other)
    found = lint(CORE, filename=str(package / "core.py"), select=["TPL101"], project_root=str(tmp_path))
    assert len(found) == count

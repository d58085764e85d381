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


@pytest.mark.parametrize(
    ("others", "count"),
    [
        ({"run.py": "from core import *\n\ndef run(x):\n    return Variable(scale(x))\n"}, 0),
        ({"run.py": "from net.core import *\n\ndef run(x):\n    return Variable(scale(x))\n"}, 0),
        ({"run.py": "from core import scale, Variable\n\ndef run(x):\n    return Variable(scale(x))\n"}, 0),
        ({"run.py": "from lib.core import *\n\ndef run(x):\n    return Variable(scale(x))\n"}, 1),
        ({"run.py": "from core import scale\n\ndef run(x):\n    return Variable(scale(x))\n"}, 1),
        ({"core.py": "", "run.py": "from core import *\n\ndef run(x):\n    return Variable(scale(x))\n"}, 1),
        ({"run.py": "from middle import *\n\ndef run(x):\n    return Variable(x)\n", "middle.py": "from core import *\n"}, 0),
        ({"run.py": "from middle import *\n\ndef run(x):\n    return x\n", "middle.py": "from core import *\n"}, 1),
        (
            {
                "run.py": "from middle import *\n\ndef run(x):\n    return Variable(x)\n",
                "middle.py": "from core import scale\n",
            },
            1,
        ),
        ({"a.py": "from b import *\n", "b.py": "from core import *\nfrom a import *\n"}, 1),
    ],
)
def test_an_import_for_files_beside_the_folder(others: dict[str, str], count: int, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    (tmp_path / "net").mkdir()
    (tmp_path / "net/core.py").write_text(CORE)
    for name, code in others.items():
        (tmp_path / name).write_text(code)
    found = lint(CORE, filename=str(tmp_path / "net/core.py"), select=["TPL101"], project_root=str(tmp_path))
    assert len(found) == count


def test_a_deprecated_import_for_another_file(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    (tmp_path / "net").mkdir()
    code = "from torch.cuda.amp import GradScaler\n\ndef scale(x):\n    return x * 2\n"
    (tmp_path / "net/core.py").write_text(code)
    for other, count in (("def run():\n    return GradScaler()\n", 0), ("def run():\n    return scale(1)\n", 1)):
        (tmp_path / "run.py").write_text(f"import sys\nsys.path.append('net')\nfrom core import *\n\n{other}")
        found = lint(code, filename=str(tmp_path / "net/core.py"), select=["strict"], project_root=str(tmp_path))
        assert len([each for each in found if each.code == "TPL108"]) == count

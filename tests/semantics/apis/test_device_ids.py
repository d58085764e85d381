"""`device_id=` of `.cuda()`, which tells by itself that the method is torch's."""

from __future__ import annotations

from pathlib import Path

import pytest

import torchlint

MOVED = "import torch\n\n\ndef move(wrapped, gpu):\n    wrapped.net.cuda(device_id=gpu)\n"


def count(text: str, filename: str = "main.py", project_root: str | None = None) -> int:
    return len(torchlint.lint(text, select=["TPL109"], filename=filename, project_root=project_root))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (MOVED, 1),
        (MOVED + "\n\ndef cuda(device_id):\n    pass\n", 1),
        (MOVED + "\n\nclass Net(torch.nn.Module):\n    def cuda(self, device_id=None):\n        super().cuda(device_id)\n", 0),
        (
            MOVED
            + "\n\nclass Net(torch.nn.Module):\n    def cuda(self, **options):\n        super().cuda(*options.values())\n",
            0,
        ),
        (MOVED.replace("import torch\n", "import paddle\nimport torch\n"), 0),
        ("import paddle\n\n\ndef move(x):\n    x.cuda(device_id=0)\n", 0),
        (MOVED.replace("device_id=gpu", "gpu"), 0),
        (MOVED.replace("wrapped.net.cuda", "wrapped.net.to_gpu"), 0),
        (MOVED.replace("wrapped.net.cuda", "cuda"), 0),
        (MOVED.replace("wrapped.net.cuda", "torch.cuda.set_device"), 0),
        (MOVED.replace("    wrapped", "    wrapped.net = [1, 2]\n    wrapped"), 1),
        (MOVED.replace("    wrapped.net", "    sizes = [1, 2]\n    sizes"), 0),
        (MOVED.replace("(device_id=gpu)", "(device_id=gpu, device=gpu)"), 1),
        (
            "import torch\n\n\ndef move(net):\n    try:\n        net.cuda(device_id=0)\n"
            "    except TypeError:\n        net.cuda(device=0)\n",
            0,
        ),
    ],
)
def test_is_found(text: str, expected: int) -> None:
    assert count(text) == expected


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ("class Net:\n    def cuda(self, device_id=None):\n        pass\n", 0),
        ("class Net:\n    def cuda(\n        self,\n        device_id=None,\n    ):\n        pass\n", 0),
        ("class Net:\n    def cuda(self, *places, **words):\n        pass\n", 0),
        ("class Net:\n    def cuda(self, device=None):\n        pass\n", 1),
        ("net.cuda(device_id=3)\n", 1),
    ],
)
def test_a_class_of_another_file_may_take_it(tmp_path: Path, other: str, expected: int) -> None:
    (tmp_path / "nets.py").write_text(other)
    assert count(MOVED, filename=str(tmp_path / "main.py"), project_root=str(tmp_path)) == expected


def test_the_fix_renames_it() -> None:
    fixed = torchlint.fix(MOVED, select=["TPL109"], unsafe=True)
    assert fixed.text == MOVED.replace("device_id=", "device=")


def test_the_fix_leaves_a_call_that_gives_both() -> None:
    text = MOVED.replace("(device_id=gpu)", "(device_id=gpu, device=gpu)")
    assert torchlint.fix(text, select=["TPL109"], unsafe=True).text == text

"""What is a device for certain, and the reasons where it is not."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.fact import Fact
from torchlint.semantics.devices.certain_devices import CertainDevices

HEADER = "import os\n\nimport torch\nfrom torch import Tensor\n\n\n"


def fact(text: str) -> Fact:
    """What is known of the marked expression."""
    semantics, [node] = marked(HEADER + text)
    return semantics.of(CertainDevices).fact(node)


@pytest.mark.parametrize(
    "text",
    [
        "«'cuda'»",
        "«f'cuda:{i}'»",
        "device = torch.device('cuda' if x else 'cpu')\n\n\ndef f():\n    «device»",
        "rank = int(os.environ['LOCAL_RANK'])\n«rank»",
        "def f(device: torch.device):\n    «device»",
        "def f(device: torch.device | str):\n    «device»",
        "def f(x: Tensor):\n    «x.device»",
        "def f(device):\n    x = torch.zeros(3, device=device)\n    «device»",
        "def f(device):\n    if x:\n        torch.device(device)\n    else:\n        torch.eye(3, device=device)\n    «device»",
    ],
)
def test_certain(text: str) -> None:
    assert fact(text).is_certain


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        ("def f(device):\n    «device»", "`device` is an argument; it may be no device"),
        ("def f(x):\n    «x.device»", "`x.device` may be no device"),
        ("def f(device):\n    «device»\n    torch.zeros(3, device=device)", "`device` is an argument; it may be no device"),
        (
            "def f(device):\n    if x:\n        torch.device(device)\n    «device»",
            "`device` is an argument; it may be no device",
        ),
        (
            "def f(device):\n    x and torch.zeros(3, device=device)\n    «device»",
            "`device` is an argument; it may be no device",
        ),
        (
            "def f(device):\n    make = lambda: torch.zeros(3, device=device)\n    «device»",
            "`device` is an argument; it may be no device",
        ),
        ("«config['device']»", "`config['device']` may be no device"),
    ],
)
def test_unknown(text: str, doubt: str) -> None:
    assert fact(text).doubt == doubt

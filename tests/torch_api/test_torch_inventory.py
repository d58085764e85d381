"""The inventory by which the site links to torch's documentation: names that torch has, on its pages."""

from __future__ import annotations

import re
import zlib
from importlib import import_module
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

INVENTORY = Path(__file__).parents[2] / "docs" / "builder" / "torch.inv"
HEAD, LIST = INVENTORY.read_bytes().split(b"zlib.\n", 1)
ENTRIES = [line.split() for line in zlib.decompress(LIST).decode().splitlines()]


def exists(name: str) -> bool:
    """Whether there is a module of the name, or something in one: a module may have the name of a function beside it."""
    module, _, attribute = name.rpartition(".")
    try:
        return hasattr(import_module(module), attribute) if module else bool(import_module(name))
    except ImportError:
        outer, _, owner = module.rpartition(".")
        return hasattr(getattr(import_module(outer), owner, None), attribute)


def test_inventory_is_of_the_torch_that_the_rules_are_checked_on() -> None:
    assert f"# Version: {torch.__version__.partition('+')[0]}\n".encode() in HEAD


@pytest.mark.filterwarnings("ignore")
def test_every_name_is_there() -> None:
    assert [name for name, *_ in ENTRIES if not exists(name)] == []
    assert len(ENTRIES) > 1_500


def test_pages_are_those_of_torch() -> None:
    """The cases were read off the sources of torch's documentation."""
    pages = {name: page for name, _, _, page, _ in ENTRIES}
    assert pages["torch.no_grad"] == "generated/torch.no_grad.html#torch.no_grad"
    assert pages["torch.nn.Parameter"] == "generated/torch.nn.parameter.Parameter.html#torch.nn.parameter.Parameter"
    assert pages["torch.cuda.empty_cache"] == "generated/torch.cuda.memory.empty_cache.html#torch.cuda.memory.empty_cache"
    assert pages["torch.set_grad_enabled"].startswith("generated/torch.autograd.grad_mode.set_grad_enabled.html#")
    assert pages["torch.utils.checkpoint.checkpoint"] == "checkpoint.html#torch.utils.checkpoint.checkpoint"
    assert "torch.nn.init.xavier_normal" not in pages  # which torch has, and does not document
    assert "torch.eig" not in pages  # which is there to raise
    assert all(re.fullmatch(r"(generated/|notes/)?[\w.]+\.html#[\w.-]+", page) for page in pages.values())

"""What the rules about modules offer depends on the torch that the code has to run on, and on how the file spells it."""

from __future__ import annotations

import pytest

from torchlint.diagnostic import Applicability
from torchlint.engine.fixer import fix
from torchlint.engine.linter import lint
from torchlint.options import Options
from torchlint.rules import all_rules
from torchlint.rules.catalogue import Entry
from torchlint.target import TorchVersion
from torchlint.text.source import Source


def rule(code: str) -> Entry:
    return next(each for each in all_rules() if each.code == code)


def fixed(code: str, text: str) -> str:
    return fix(Source(text), [rule(code)], Applicability.UNSAFE).text


def has_fix(code: str, text: str, target: TorchVersion) -> bool:
    (found,) = lint(Source(text), [rule(code)], Options(target=target))
    return found.fix is not None


MODULE = """{imports}
class Net({base}):
    def __init__(self):
        super().__init__()
        self.layers = []
        self.layers.append({linear}(2, 2))
"""


@pytest.mark.parametrize(
    ("imports", "base", "linear", "container", "added"),
    [
        ("import torch.nn as nn\n", "nn.Module", "nn.Linear", "nn.ModuleList", ""),
        ("from torch import nn as N\n", "N.Module", "N.Linear", "N.ModuleList", ""),
        ("import torch\n", "torch.nn.Module", "torch.nn.Linear", "torch.nn.ModuleList", ""),
        ("import torch as th\n", "th.nn.Module", "th.nn.Linear", "th.nn.ModuleList", ""),
        ("from torch.nn import Linear, Module, ModuleList\n", "Module", "Linear", "ModuleList", ""),
        ("from torch.nn import Linear, Module\n", "Module", "Linear", "torch.nn.ModuleList", "import torch\n"),
        ("", "nn.Module", "nn.Linear", "nn.ModuleList", ""),
    ],
)
def test_containers_are_spelled_as_the_file_does(imports: str, base: str, linear: str, container: str, added: str) -> None:
    text = MODULE.format(imports=imports, base=base, linear=linear)
    expected = text.replace("self.layers = []", f"self.layers = {container}()")
    assert fixed("TPL301", text) == added + expected


@pytest.mark.parametrize("use", ["self.layers.pop()", "self.layers + [nn.Linear(1, 1)]"])
def test_old_module_lists_can_do_less(use: str) -> None:
    text = MODULE.format(imports="", base="nn.Module", linear="nn.Linear") + f"        x = {use}\n"
    assert has_fix("TPL301", text, TorchVersion(2, 13))
    assert not has_fix("TPL301", text, TorchVersion(1, 10))


@pytest.mark.parametrize(("use", "mendable"), [("", True), ("print(p > 0.5)\n", False)])
def test_probabilities_that_are_needed_elsewhere_stay_what_they_are(use: str, mendable: bool) -> None:
    text = f"p = torch.sigmoid(x)\n{use}F.binary_cross_entropy_with_logits(p, y)\n"
    assert has_fix("TPL308", text, TorchVersion(2, 13)) is mendable


def test_a_list_that_goes_on_growing_has_no_fix() -> None:
    text = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        layers = [nn.Linear(1, 1)]
        self.layers = layers
        layers.append(nn.Linear(2, 2))
"""
    assert not has_fix("TPL301", text, TorchVersion(2, 13))


def test_modules_before_the_base_is_initialised_have_no_fix() -> None:
    text = """
class Net(nn.Module):
    def __init__(self):
        self.layers = [nn.Linear(1, 1), nn.Linear(1, 1)]
        super().__init__()
"""
    assert not has_fix("TPL301", text, TorchVersion(2, 13))


def test_a_module_with_no_forward_keeps_a_tensor_as_well() -> None:
    text = """import torch
from torch import nn
class Quantizer(nn.Module):
    def __init__(self, levels: list[int]):
        super().__init__()
        self.levels = torch.tensor(levels)
    def bound(self, z: torch.Tensor):
        return z * self.levels
"""
    (found,) = lint(Source(text), [rule("TPL314")])
    assert found.location.row == 6

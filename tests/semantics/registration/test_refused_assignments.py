"""Assignments to parameters, buffers and modules of what `nn.Module` refuses there."""

from __future__ import annotations

import ast

import pytest

from torchlint.semantics import Semantics
from torchlint.semantics.registration import plain_values
from torchlint.semantics.registration.names import Role
from torchlint.semantics.registration.plain_values import Given
from torchlint.semantics.registration.refused_assignments import Refused, RefusedAssignments

CLASS = """\
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
class Net(nn.Module):
    def __init__(self, on, given):
        super().__init__()
        self.w = nn.Parameter(torch.zeros(2, 2))
        self.register_parameter("none", None)
        self.register_buffer("b", torch.zeros(2))
        self.register_buffer("given", given)
        self.register_buffer(name="word", tensor=torch.zeros(2))
        self.m = nn.Linear(2, 2)
        self.rnn = nn.LSTM(2, 2)
        self.same = nn.Identity()
        self.layers = nn.ModuleList()
        if on:
            self.other = nn.Parameter(torch.zeros(2))
        self.plain = torch.zeros(2)
    def change(self, x: torch.Tensor, unknown):
"""


def refused(*lines: str, text: str = CLASS) -> list[Refused[ast.AST]]:
    text += "".join(f"        {line}\n" for line in lines)
    return list(Semantics(ast.parse(text)).of(RefusedAssignments).found.values())


@pytest.mark.parametrize(
    ("line", "role", "given", "is_filled"),
    [
        ("self.w = self.w * 2", Role.PARAMETER, Given.TENSOR, True),
        ("self.w = -self.w", Role.PARAMETER, Given.TENSOR, True),
        ("self.w = 2 - self.w", Role.PARAMETER, Given.TENSOR, True),
        ("self.w = self.w.detach()", Role.PARAMETER, Given.TENSOR, True),
        ("self.w = self.w.data", Role.PARAMETER, Given.TENSOR, True),
        ("self.w = self.w.t()", Role.PARAMETER, Given.TENSOR, True),
        ("self.w = self.w[0]", Role.PARAMETER, Given.TENSOR, True),
        ("self.w = F.normalize(self.w, dim=1)", Role.PARAMETER, Given.TENSOR, True),
        ("self.w = torch.zeros(2)", Role.PARAMETER, Given.TENSOR, True),
        ("self.w = x @ x", Role.PARAMETER, Given.TENSOR, True),
        ("self.w = 1.0", Role.PARAMETER, Given.NUMBER, True),
        ("self.w = [1.0]", Role.PARAMETER, Given.SEQUENCE, True),
        ("self.w = np.ones(2)", Role.PARAMETER, Given.ARRAY, True),
        ("self.w = nn.Linear(2, 2)", Role.PARAMETER, Given.MODULE, True),
        ("self.none = torch.zeros(2)", Role.PARAMETER, Given.TENSOR, False),
        ("self.b = 1", Role.BUFFER, Given.NUMBER, True),
        ("self.b = 'text'", Role.BUFFER, Given.STRING, True),
        ("self.b = {}", Role.BUFFER, Given.DICT, True),
        ("self.given = 1", Role.BUFFER, Given.NUMBER, False),
        ("self.m = x + 1", Role.MODULE, Given.TENSOR, True),
        ("self.m = self.m(x)", Role.MODULE, Given.TENSOR, True),
        ("self.m = lambda x: x", Role.MODULE, Given.FUNCTION, True),
        ("self.m = [nn.Linear(2, 2)]", Role.MODULE, Given.SEQUENCE, True),
        ("self.m = f'{x}'", Role.MODULE, Given.STRING, True),
        ("self.b = len(unknown)", Role.BUFFER, Given.NUMBER, True),
        ("self.word = 0", Role.BUFFER, Given.NUMBER, True),
        ("self.rnn = self.rnn(x)", Role.MODULE, Given.SEQUENCE, True),
        ("self.b = 0; self.b = None", Role.BUFFER, Given.NUMBER, False),
        ("if unknown: self.w = self.w * 2", Role.PARAMETER, Given.TENSOR, True),
    ],
)
def test_what_a_module_refuses(line: str, role: Role, given: Given, is_filled: bool) -> None:
    [found] = refused(line)
    assert (found.role, found.given, found.is_filled) == (role, given, is_filled)


@pytest.mark.parametrize(
    "line",
    [
        "self.w = None",
        "self.w = nn.Parameter(self.w * 2)",
        "self.w = unknown",
        "self.w = x",
        "self.w = unknown(self.w)",
        "self.w = self.w.to(x.device)",
        "self.w = self.w.cuda()",
        "self.w = self.w.float()",
        "self.w = self.w.contiguous()",
        "self.w = self.w.requires_grad_(False)",
        "self.w = torch.as_tensor(self.w)",
        "self.w = +self.w",
        "self.w, y = self.w * 2, 1",
        "self.w = y = self.w * 2",
        "self.w *= 2",
        "self.w.data = self.w * 2",
        "self.b = self.b * 2",
        "self.b = x",
        "self.b = nn.Parameter(x)",
        "self.b = nn.Linear(2, 2)",
        "self.m = nn.ReLU()",
        "self.m = nn.Parameter(x * 2)",
        "self.m = None",
        "self.m = unknown",
        "self.other = self.other * 2",
        "self.plain = 3",
        "unknown.w = x * 2",
        "self.b = x if self.training else 0.0",
        "total = 0; total = total + unknown; self.b = total",
        "self.b = unknown['b'] or 0.0",
        "self.b = max(self.b, 0.0)",
        "self.b = np.sqrt(self.b)",
        "self.layers = self.layers + [nn.Linear(2, 2)]",
        "self.w = self.w.flatten()",
        "self.w = F.relu(self.w, inplace=True)",
        "self.w = torch.clamp(self.w, 0, out=self.w)",
        "self.w = torch.mul(self.w, 2, **unknown)",
        "self.m = self.same(self.m)",
        "if not isinstance(self.w, nn.Parameter): self.w = self.w * 2",
        "w = self.w * 2",
    ],
)
def test_what_it_takes_or_may_take(line: str) -> None:
    assert refused(line) == []


@pytest.mark.parametrize(
    "line",
    [
        "del self.w",
        "delattr(self, 'w')",
        "setattr(self, 'w', x)",
        "self._parameters.pop('w')",
        "self.__dict__['w'] = x",
        "nn.utils.weight_norm(self)",
        "nn.utils.parametrize.register_parametrization(unknown, 'w', unknown)",
        "del unknown.w",
    ],
)
def test_classes_that_undo_what_they_register(line: str) -> None:
    assert len(refused("self.w = self.w * 2")) == 1
    assert refused("self.w = self.w * 2", line) == []


def test_where_the_constructor_runs_the_method_before_it_registers() -> None:
    head = "import torch\nfrom torch import nn\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    parts = ["        self.w = nn.Parameter(torch.zeros(2))\n", "        self.reset()\n"]
    method = "    def reset(self):\n"
    assert len(refused("self.w = torch.zeros(3)", text=head + "".join(parts) + method)) == 1
    assert refused("self.w = torch.zeros(3)", text=head + "".join(reversed(parts)) + method) == []


def test_where_the_constructor_may_be_left_before() -> None:
    head = (
        "import torch\nfrom torch import nn\nclass Net(nn.Module):\n    def __init__(self, on):\n        super().__init__()\n"
    )
    made, changed = "self.w = nn.Parameter(torch.zeros(2))", "self.w = torch.zeros(3)"
    assert refused("if on: return", made, changed, text=head) == []


def test_in_the_constructor_what_comes_behind_counts() -> None:
    head = "import torch\nfrom torch import nn\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    made, changed = "self.w = nn.Parameter(torch.zeros(2))", "self.w = torch.zeros(3)"
    assert len(refused(made, changed, text=head)) == 1
    assert refused(changed, made, text=head) == []


@pytest.mark.parametrize(
    "line",
    [
        "try: self.w = self.w * 2\n        except TypeError: pass",
        "with pytest.raises(TypeError): self.w = self.w * 2",
    ],
)
def test_where_the_error_is_awaited(line: str) -> None:
    assert refused(line) == []


@pytest.mark.parametrize("base", ["Unknown", "nn.Module, Unknown", "nn.Module, metaclass=Unknown"])
def test_classes_of_which_not_all_is_in_sight(base: str) -> None:
    assert refused("self.w = self.w * 2", text=CLASS.replace("nn.Module", base)) == []


def test_classes_whose_base_may_run_their_methods() -> None:
    text = CLASS.replace("nn.Module", "nn.Linear")
    assert refused("self.w = self.w * 2", text=text) == []
    assert (
        len(refused("self.w = self.w * 2", text=text.replace("def change(self, x: torch.Tensor,", "def forward(self, x,"))) == 1
    )


def test_methods_that_the_constructor_runs_through_others() -> None:
    head = "import torch\nfrom torch import nn\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    text = head + "        self.begin()\n        self.w = nn.Parameter(torch.zeros(2))\n"
    text += "    def begin(self):\n        self.apply(self.reset)\n    def reset(self, layer=None):\n"
    assert refused("self.w = torch.zeros(3)", text=text) == []


@pytest.mark.parametrize("name", ["__setattr__", "__getattribute__"])
def test_classes_that_derive_from_it_and_register_themselves(name: str) -> None:
    more = f"class Other(Net):\n    def {name}(self, *args):\n        pass\n"
    text = CLASS + "        self.w = self.w * 2\n" + more + "    def f(self):\n"
    assert refused("pass", text=text) == []


def test_classes_that_are_no_modules() -> None:
    assert refused("self.w = self.w * 2", text=CLASS.replace("(nn.Module)", "")) == []


def test_no_function_that_counts_as_making_a_tensor_gives_the_parameter_itself() -> None:
    torch = pytest.importorskip("torch")
    weight = torch.nn.Parameter(torch.rand(2, 2))
    given = {
        **dict.fromkeys(("view", "reshape", "expand"), (2, 2)),
        **{"permute": (0, 1), "transpose": (0, 1), "unsqueeze": (0,), "pow": (1,), "clamp": (0,), "softmax": (0,)},
        **dict.fromkeys(("mul", "div"), (1,)),
        **dict.fromkeys(("add", "sub"), (0,)),
        **dict.fromkeys(("matmul", "mm"), (torch.eye(2),)),
        **{"masked_fill": (torch.zeros(2, 2, dtype=torch.bool), 0.0), "new_full": ((2,), 1.0)},
        **dict.fromkeys(("new_zeros", "new_ones", "new_empty"), (2,)),
    }
    for name in plain_values._NEW_BY_METHOD - {"bmm"}:
        made = getattr(weight, name)(*given.get(name, ()))
        assert type(made) is torch.Tensor, name
    functions = {
        **{"cat": ([weight],), "stack": ([weight],), "where": (weight > 9, 0.0, weight), "softmax": (weight, 0)},
        **{"einsum": ("ij->ij", weight), "clamp": (weight, 0), "normalize": (weight, 1e9)},
        **dict.fromkeys(("matmul", "mm"), (weight, torch.eye(2))),
        **dict.fromkeys(("mul", "div"), (weight, 1)),
        **dict.fromkeys(("add", "sub"), (weight, 0)),
    }
    for name in plain_values._NEW_BY_FUNCTION - {"torch.bmm"}:
        function = torch
        for part in name.split(".")[1:]:
            function = getattr(function, part)
        made = function(*functions.get(name.rpartition(".")[2], (weight,)))
        assert type(made) is torch.Tensor, name

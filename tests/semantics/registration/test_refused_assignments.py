"""Assignments to parameters, buffers and modules of what `nn.Module` refuses there."""

from __future__ import annotations

import ast

import pytest

from torchlint.semantics import Semantics, Type
from torchlint.semantics.registration import refused_assignments
from torchlint.semantics.registration.refused_assignments import Refused, RefusedAssignments, Role

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
        self.m = nn.Linear(2, 2)
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
        ("self.w = self.w * 2", Role.PARAMETER, Type.TENSOR, True),
        ("self.w = -self.w", Role.PARAMETER, Type.TENSOR, True),
        ("self.w = 2 - self.w", Role.PARAMETER, Type.TENSOR, True),
        ("self.w = self.w.detach()", Role.PARAMETER, Type.TENSOR, True),
        ("self.w = self.w.data", Role.PARAMETER, Type.TENSOR, True),
        ("self.w = self.w.t()", Role.PARAMETER, Type.TENSOR, True),
        ("self.w = self.w[0]", Role.PARAMETER, Type.TENSOR, True),
        ("self.w = F.normalize(self.w, dim=1)", Role.PARAMETER, Type.TENSOR, True),
        ("self.w = torch.zeros(2)", Role.PARAMETER, Type.TENSOR, True),
        ("self.w = x @ x", Role.PARAMETER, Type.TENSOR, True),
        ("self.w = 1.0", Role.PARAMETER, Type.NUMBER, True),
        ("self.w = [1.0]", Role.PARAMETER, Type.SEQUENCE, True),
        ("self.w = np.ones(2)", Role.PARAMETER, Type.ARRAY, True),
        ("self.w = nn.Linear(2, 2)", Role.PARAMETER, Type.MODULE, True),
        ("self.none = torch.zeros(2)", Role.PARAMETER, Type.TENSOR, False),
        ("self.b = 1", Role.BUFFER, Type.NUMBER, True),
        ("self.b = 'text'", Role.BUFFER, Type.STRING, True),
        ("self.b = {}", Role.BUFFER, Type.MAPPING, True),
        ("self.given = 1", Role.BUFFER, Type.NUMBER, False),
        ("self.m = x + 1", Role.MODULE, Type.TENSOR, True),
        ("self.m = self.m(x)", Role.MODULE, Type.TENSOR, True),
        ("self.m = lambda x: x", Role.MODULE, Type.FUNCTION, True),
        ("self.m = [nn.Linear(2, 2)]", Role.MODULE, Type.SEQUENCE, True),
        ("if unknown: self.w = self.w * 2", Role.PARAMETER, Type.TENSOR, True),
    ],
)
def test_what_a_module_refuses(line: str, role: Role, given: Type, is_filled: bool) -> None:
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
    for name in refused_assignments._NEW_BY_METHOD - {"bmm"}:
        made = getattr(weight, name)(*given.get(name, ()))
        assert type(made) is torch.Tensor, name
    functions = {
        **{"cat": ([weight],), "stack": ([weight],), "where": (weight > 9, 0.0, weight), "softmax": (weight, 0)},
        **{"einsum": ("ij->ij", weight), "clamp": (weight, 0), "normalize": (weight, 1e9)},
        **dict.fromkeys(("matmul", "mm"), (weight, torch.eye(2))),
        **dict.fromkeys(("mul", "div"), (weight, 1)),
        **dict.fromkeys(("add", "sub"), (weight, 0)),
    }
    for name in refused_assignments._NEW_BY_FUNCTION - {"torch.bmm"}:
        function = torch
        for part in name.split(".")[1:]:
            function = getattr(function, part)
        made = function(*functions.get(name.rpartition(".")[2], (weight,)))
        assert type(made) is torch.Tensor, name

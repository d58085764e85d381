"""What moves and casts ask for."""

from __future__ import annotations

import ast

import pytest

from torchlint.semantics import Semantics
from torchlint.semantics.devices.placement import Placement, Placements


def placement(call: str, before: str = "") -> Placement | None:
    """What ``x.<call>`` asks for, behind the lines ``before``."""
    semantics = Semantics(ast.parse(f"import torch\n{before}\ny = x.{call}\n"))
    calls = [node for node in semantics.tree.nodes if isinstance(node, ast.Call)]
    return Placements(semantics).of(
        next(node for node in calls if ast.unparse(node) == ast.unparse(ast.parse(f"x.{call}").body[0]))
    )


def written(part: ast.expr | str | None) -> str | None:
    """A device or dtype as text."""
    return ast.unparse(part) if isinstance(part, ast.expr) else part


@pytest.mark.parametrize(
    ("call", "device", "dtype", "known"),
    [
        ("cuda()", '"cuda"', None, ""),
        ("cuda(1)", '"cuda:1"', None, ""),
        ("cuda(non_blocking=True)", '"cuda"', None, ""),
        ("cuda(y.get_device())", "y.get_device()", None, ""),
        ("float()", None, None, "float32"),
        ("long()", None, None, "int64"),
        ("to('cuda:0')", "'cuda:0'", None, ""),
        ("to(device)", "device", None, ""),
        ("to(self.device, torch.half)", "self.device", "torch.half", "float16"),
        ("to(device=d, dtype=t)", "d", "t", ""),
        ("to(y.dtype)", None, "y.dtype", ""),
        ("to(float)", None, "float", "float64"),
        ("type(torch.LongTensor)", None, None, "int64"),
        ("type(torch.cuda.FloatTensor)", '"cuda"', None, "float32"),
        ("type('torch.ByteTensor')", None, None, "uint8"),
        ("type(y.dtype)", None, "y.dtype", ""),
        ("type_as(y)", "y.device", "y.dtype", ""),
    ],
)
def test_moves_and_casts(call: str, device: str | None, dtype: str | None, known: str) -> None:
    found = placement(call)
    assert found is not None
    assert (written(found.device), written(found.dtype), found.known_dtype) == (device, dtype, known)


@pytest.mark.parametrize(
    "call",
    [
        "to(target)",
        "to(*where)",
        "to(y, copy=True)",
        "type(dtype)",
        "type_as(make())",
        "cpu()",
        "float(3)",
        "view(3)",
        "to(3, 4, 5)",
    ],
)
def test_what_nobody_can_tell(call: str) -> None:
    assert placement(call) is None


def test_a_name_is_what_it_is_bound_to() -> None:
    found = placement("to(where)", "where = torch.device('cuda') if torch.cuda.is_available() else 'cpu'")
    assert found is not None and written(found.device) == "where"
    found = placement("to(what)", "what = torch.float16")
    assert found is not None and (found.device, written(found.dtype)) == (None, "what")
    found = placement("to(like)", "like = torch.ones(3)")
    assert found is not None and (found.device, found.dtype) == ("like.device", "like.dtype")


def test_a_gpu_that_may_be_none_is_not_certain() -> None:
    found = placement("cuda(gpu)")
    assert found is not None and written(found.device) == "gpu"
    assert found.fact.doubt == "nothing shows that `gpu` is a device"
    assert placement("cuda(0)") == Placement('"cuda:0"')

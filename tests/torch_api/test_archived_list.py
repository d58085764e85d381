"""Every symbol that torch's archived linter had a list of has a row, and a finding in the fixtures of TPL108 or TPL109."""

from __future__ import annotations

from pathlib import Path

import pytest

import torchlint
from torchlint.semantics.apis.deprecations import deprecations

FIXTURES = Path(__file__).parents[2] / "fixtures"
REMOVED = ("torch.solve", "torch.symeig", "torch.matrix_rank", "torch.lstsq")
DEPRECATED = (
    *("torch.qr", "torch.chain_matmul", "torch.cholesky", "torch.ger", "torch.lu_solve", "torch.norm", "torch.range"),
    *("torch.svd", "torch.triangular_solve", "torch.lu", "torch.nn.UpsamplingNearest2d", "torch.nn.UpsamplingBilinear2d"),
    *("torch.testing.assert_allclose", "torch.nn.utils.weight_norm", "torch.utils._pytree._register_pytree_node"),
    *("torch.backends.cuda.sdp_kernel", "torch.cuda.amp.autocast", "torch.cuda.amp.custom_fwd", "torch.cuda.amp.custom_bwd"),
    *("torch.cpu.amp.autocast", "functorch.vmap", "functorch.grad", "functorch.vjp", "functorch.jvp", "functorch.jacrev"),
    *("functorch.jacfwd", "functorch.hessian", "functorch.functionalize"),
)
"""The names of its data file, `deprecated_symbols.yaml` of pytorch-labs/torchfix, as it was archived."""


def test_the_list_is_whole() -> None:
    assert len({*REMOVED, *DEPRECATED}) == 32


@pytest.mark.parametrize("symbol", [*REMOVED, *DEPRECATED])
def test_has_a_row(symbol: str) -> None:
    row = deprecations()[symbol, ""]
    assert row.since and bool(row.removed) == (symbol in REMOVED)


@pytest.mark.parametrize(
    ("code", "folder", "symbols"), [("TPL108", "tpl108_deprecated_api", DEPRECATED), ("TPL109", "tpl109_removed_api", REMOVED)]
)
def test_has_a_case_in_the_fixtures(code: str, folder: str, symbols: tuple[str, ...]) -> None:
    text = (FIXTURES / folder / "bad.py").read_text(encoding="utf-8")
    found = torchlint.lint(text, filename="bad.py", select=[code])
    said = " ".join(each.message for each in found)
    assert [symbol for symbol in symbols if f"{symbol.rpartition('.')[2]}`" not in said] == []


@pytest.mark.parametrize("symbol", [*REMOVED, *DEPRECATED])
def test_is_found_under_any_name(symbol: str) -> None:
    module, _, name = symbol.rpartition(".")
    code = "TPL109" if symbol in REMOVED else "TPL108"
    for text in (f"import {module}\nuse({symbol})\n", f"from {module} import {name} as other\nuse(other)\n"):
        assert [each.code for each in torchlint.lint(text, select=["TPL108", "TPL109"])] == [code], text

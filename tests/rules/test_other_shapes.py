"""Calls whose successor takes other arguments: what the fix writes, and that it computes the same on the torch of today."""

from __future__ import annotations

import warnings

import pytest

import torchlint
from torchlint.rules.legacy.spellings.other_shapes import RUN_BESIDE

RULES = ["TPL108", "TPL109"]

CASES = [
    ("torch.qr", "torch.qr(a)", "torch.linalg.qr(a)"),
    ("torch.qr", "torch.qr(tall, some=False)", 'torch.linalg.qr(tall, mode="complete")'),
    ("torch.qr", "torch.qr(tall, True)", "torch.linalg.qr(tall)"),
    ("torch.qr", "torch.qr(input=tall, some=True)", "torch.linalg.qr(tall)"),
    ("torch.cholesky", "torch.cholesky(a)", "torch.linalg.cholesky(a)"),
    ("torch.cholesky", "torch.cholesky(a, False)", "torch.linalg.cholesky(a)"),
    ("torch.cholesky", "torch.cholesky(a, upper=True)", "torch.linalg.cholesky(a, upper=True)"),
    ("torch.cholesky", "torch.cholesky(a, yes)", "torch.linalg.cholesky(a, upper=yes)"),
    ("torch.lu_solve", "torch.lu_solve(a, lu, pivots)", "torch.linalg.lu_solve(lu, pivots, a)"),
    ("torch.range", "torch.range(0, 5)", "torch.arange(0, 6, dtype=torch.get_default_dtype())"),
    ("torch.range", "torch.range(-4, -2)", "torch.arange(-4, -1, dtype=torch.get_default_dtype())"),
    ("torch.range", "torch.range(4, 1, -2)", "torch.arange(4, 0, -2, dtype=torch.get_default_dtype())"),
    ("torch.range", "torch.range(end=8, start=0, step=3)", "torch.arange(0, 9, 3, dtype=torch.get_default_dtype())"),
    ("torch.range", "torch.range(1, 3, dtype=torch.long)", "torch.arange(1, 4, dtype=torch.long)"),
    ("", "tall.qr()", "torch.linalg.qr(tall)"),
    ("", "tall.qr(some=False)", 'torch.linalg.qr(tall, mode="complete")'),
    ("", "a.cholesky(True)", "torch.linalg.cholesky(a, upper=True)"),
    ("", "a.storage().data_ptr()", "a.untyped_storage().data_ptr()"),
    ("", "a.storage().nbytes()", "a.untyped_storage().nbytes()"),
]
SETUP = """import torch

a = torch.eye(3) + 1
tall = torch.arange(6.0).reshape(3, 2)
yes = True
lu, pivots = torch.linalg.lu_factor(a)
"""


def mended(text: str) -> str:
    return torchlint.fix(text, unsafe=True, select=RULES).text


@pytest.mark.parametrize(("symbol", "old", "new"), CASES)
def test_it_computes_the_same_and_warns_no_more(symbol: str, old: str, new: str) -> None:
    torch = pytest.importorskip("torch")
    program = f"{SETUP}result = {old}\n"
    changed = mended(program)
    assert changed == f"{SETUP}result = {new}\n"
    results = []
    for text in (program, changed):
        names: dict[str, object] = {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore" if text is program else "error")
            exec(text, names)
        results.append(names["result"])
    if ".data_ptr" in old:
        assert all(isinstance(each, int) and each for each in results)
        return
    for one, other in zip(*(each if isinstance(each, tuple) else (each,) for each in results), strict=True):
        assert type(one) is type(other)
        assert one == other if isinstance(one, int) else (one.dtype == other.dtype and torch.equal(one, other))


def test_all_that_is_called_safe_is_among_them() -> None:
    assert {symbol for symbol, _, _ in CASES if symbol} == RUN_BESIDE


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("torch.symeig(a, eigenvectors=True)", 'torch.linalg.eigh(a, UPLO="U")'),
        ("torch.symeig(a, True, False)", 'torch.linalg.eigh(a, UPLO="L")'),
        ("torch.matrix_rank(a, 0.1, symmetric=True)", "torch.linalg.matrix_rank(a, tol=0.1, hermitian=True)"),
        ("datasets.MNIST('x').train_labels", "datasets.MNIST('x').targets"),
        ("datasets.FashionMNIST('x').test_data", "datasets.FashionMNIST('x').data"),
        ("torch.nn.Linear(2, 2).register_backward_hook(f)", "torch.nn.Linear(2, 2).register_full_backward_hook(f)"),
        ("torch.distributions.Normal(0.0, 1.0).sample_n(n)", "torch.distributions.Normal(0.0, 1.0).sample((n,))"),
        ("torch.utils.data.ConcatDataset(d).cummulative_sizes", "torch.utils.data.ConcatDataset(d).cumulative_sizes"),
        # left to people
        ("torch.qr(a, some=flag)", None),
        ("torch.qr(*given)", None),
        ("torch.range(0, n)", None),
        ("torch.range(0, 1, 0.1)", None),
        ("torch.range(5, 0)", None),
        ("torch.eye(2).storage()[0]", None),
        ("torch.eye(2).storage().size()", None),
        ("list(map(torch.qr, given))", None),
        ("torch.solve(a, a)", None),
        ("torch.eig(a)", None),
    ],
)
def test_what_is_written(old: str, new: str | None) -> None:
    text = f"import torch\nfrom torchvision import datasets\n\nresult = {old}\n"
    assert mended(text) == text.replace(old, new or old)

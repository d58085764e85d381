"""What is deprecated, or removed, of methods: known by the kind of the value, and silent where that says something else."""

from __future__ import annotations

import pytest

import torchlint

HEAD = """\
import torch
import torch.distributed as dist
from torch.optim import lr_scheduler

x = torch.rand(3, 3)
opt = torch.optim.SGD([x], 0.1)
steps = lr_scheduler.StepLR(opt, 3)
plateau = lr_scheduler.ReduceLROnPlateau(opt)
warm = lr_scheduler.CosineAnnealingWarmRestarts(opt, 2)
chained = lr_scheduler.ChainedScheduler([steps])
either = steps if flag else plateau


class Mine(lr_scheduler.LRScheduler):
    def get_lr(self):
        return [0.1]


class Theirs:
    def get_lr(self):
        return 0.1


mine, theirs = Mine(opt), Theirs()
"""


def found(line: str, target: str | None = None) -> list[tuple[str, str]]:
    text = f"{HEAD}{line}\n"
    return [(each.code, each.message) for each in torchlint.lint(text, select=["TPL108", "TPL109"], target_torch=target)]


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("print(steps.get_lr())", "TPL108", "`steps.get_lr` is deprecated since torch 1.4: use `get_last_lr`"),
        ("steps.step(epoch)", "TPL108", "`epoch` of `steps.step` is deprecated since torch 1.4"),
        ("steps.step(epoch=3)", "TPL108", "`epoch` of `steps.step` is deprecated since torch 1.4"),
        ("mine.step(3)", "TPL108", "`epoch` of `mine.step` is deprecated since torch 1.4"),
        ("plateau.step(loss, 3)", "TPL108", "`epoch` of `plateau.step` is deprecated since torch 1.4"),
        ("x.cross(x)", "TPL108", "`x.cross` without `dim` is deprecated since torch 2.2"),
        (
            "torch.autograd.profiler.profile(use_cuda=True)",
            "TPL108",
            "`use_cuda` of `torch.autograd.profiler.profile` is deprecated since torch 2.4: please use `use_device = 'cuda'`",
        ),
        ("dist.all_reduce(x, op=dist.reduce_op.SUM)", "TPL108", "`dist.reduce_op` is deprecated since torch 1.0"),
        ("x.symeig(eigenvectors=True)", "TPL109", "`x.symeig` only raises since torch 2.0: use `torch.linalg.eigh`"),
        ("x.solve(x)", "TPL109", "`x.solve` only raises since torch 1.12"),
        ("x.lstsq(x)", "TPL109", "`x.lstsq` only raises since torch 1.13"),
        ("x.eig()", "TPL109", "`x.eig` only raises since torch 1.13"),
    ],
)
def test_finds(line: str, code: str, said: str) -> None:
    [(its, message)] = found(line)
    assert its == code and message.startswith(said), message


@pytest.mark.parametrize("line", ["steps.step(epoch)", "steps.step(epoch=3)", "mine.step(3)", "plateau.step(loss, 3)"])
def test_the_epoch_of_a_schedule_is_strict(line: str) -> None:
    assert [each.code for each in torchlint.lint(f"{HEAD}{line}\n")] == []


def test_other_parameters_are_reported_by_default() -> None:
    assert [each.code for each in torchlint.lint(f"{HEAD}torch.autograd.profiler.profile(use_cuda=True)\n")] == ["TPL108"]


@pytest.mark.parametrize(
    "line",
    [
        *("steps.step()", "steps.step(None)", "steps.get_last_lr()", "plateau.step(loss)", "warm.step(epoch + i / n)"),
        *("mine.get_lr()", "theirs.get_lr()", "either.step(loss)", "chained.step()", "unknown.get_lr()", "unknown.step(3)"),
        *("x.cross(x, 1)", "x.cross(x, dim=-1)", "x.cross(x, **options)", "unknown.cross(x)", "unknown.solve(x)"),
        *("isinstance(x, torch.sparse.FloatTensor)", "dist.all_reduce(x, op=dist.ReduceOp.SUM)"),
    ],
)
def test_leaves_alone(line: str) -> None:
    assert found(line) == []


def test_what_a_scheduler_calls_of_its_own() -> None:
    assert found("class Other(Mine):\n    def show(self):\n        return self.get_lr()") == []


def test_a_scheduler_that_is_known_by_the_attribute_it_is_kept_in() -> None:
    kept = "class T:\n    def __init__(self):\n        self.s = lr_scheduler.LambdaLR(opt, f)\n\n    def show(self):\n"
    assert [code for code, _ in found(f"{kept}        return self.s.get_lr()")] == ["TPL108"]


def test_it_depends_on_the_target() -> None:
    assert found("steps.get_lr()", "1.3") == []
    assert found("x.symeig()", "1.13") == []


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("rate = steps.get_lr()[0]", "rate = steps.get_last_lr()[0]"),
        ("dist.all_reduce(x, op=dist.reduce_op.SUM)", "dist.all_reduce(x, op=dist.ReduceOp.SUM)"),
        ("w, v = x.symeig(eigenvectors=True)", 'w, v = torch.linalg.eigh(x, UPLO="U")'),
    ],
)
def test_fixes(line: str, expected: str) -> None:
    text = f"{HEAD}{line}\n"
    assert torchlint.fix(text, select=["TPL108", "TPL109"]).text == text  # none is safe
    assert torchlint.fix(text, unsafe=True, select=["TPL108", "TPL109"]).text == f"{HEAD}{expected}\n"


# --- what torch does -------------------------------------------------------------------------------------------------


def test_schedulers_warn_as_the_table_says() -> None:
    torch = pytest.importorskip("torch")
    schedulers = torch.optim.lr_scheduler
    optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], 0.1)
    optimizer.step()
    steps = schedulers.StepLR(optimizer, 3)
    with pytest.warns(UserWarning, match="please use `get_last_lr"):
        steps.get_lr()
    with pytest.warns(UserWarning, match="epoch parameter"):
        steps.step(1)
    own = {name for name, each in vars(schedulers).items() if isinstance(each, type) and "step" in vars(each)}
    assert own >= {"ReduceLROnPlateau", "CosineAnnealingWarmRestarts", "ChainedScheduler", "SequentialLR", "LRScheduler"}


@pytest.mark.parametrize("method", ["symeig", "eig", "solve", "lstsq"])
def test_methods_only_raise(method: str) -> None:
    torch = pytest.importorskip("torch")
    value = torch.eye(2)
    with pytest.raises(RuntimeError, match="deprecated"):
        getattr(value, method)(*((value,) if method in ("solve", "lstsq") else ()))

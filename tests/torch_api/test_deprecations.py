"""The table of deprecations, beside the torch that is installed, and the calls that fixes write beside those they replace."""

from __future__ import annotations

import contextlib
import importlib
import subprocess
import sys
import textwrap
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import torchlint
from torchlint.rules.legacy.spellings.deprecations import COMPARED
from torchlint.rules.legacy.spellings.renamed import RENAMED
from torchlint.semantics.apis.deprecations import deprecations
from torchlint.target import TorchVersion

ROOT = Path(__file__).parents[2]
GENERATOR = ROOT / "tests" / "torch_api" / "deprecations"


def row(symbol: str, parameter: str = "") -> tuple[str, str, str]:
    found = deprecations()[symbol, parameter]
    return found.since, found.removed, found.replacement


# --- what is in it ---------------------------------------------------------------------------------------------------


def test_what_is_known_of_some_by_their_release_notes() -> None:
    assert row("torch.cuda.amp.autocast")[0] == "2.4.0"
    assert row("torch.symeig") == ("1.9.0", "2.0.0", "")
    assert row("torch.ger") == ("1.7.0", "", "torch.outer")
    assert row("torch.rfft") == ("1.7.0", "1.8.0", "")
    assert row("torch.set_deterministic") == ("1.8.0", "1.10.0", "torch.use_deterministic_algorithms")
    assert row("torchvision.transforms.Scale") == ("0.2.2", "0.12.0", "torchvision.transforms.Resize")
    assert row("torchvision.utils.make_grid", "range") == ("0.9.0", "0.16.0", "value_range=...")
    assert row("torch.nn.Module.cuda", "device_id") == ("", "0.3.0", "device=...")
    assert row("torch.utils.data.Sampler", "data_source") == ("2.1.0", "2.10.0", "-")
    assert row("torchaudio.transforms.ComplexNorm")[:2] == ("0.9.0", "0.11.0")
    assert row("torch.autograd.backward", "grad_variables")[0] == "1.0.0"


@pytest.mark.parametrize("given", ["[1]", "None", "data_source=None"])
@pytest.mark.parametrize("call", ["super().__init__({})", "Sampler.__init__(self, {})"])
def test_the_constructor_of_samplers_is_gone(call: str, given: str) -> None:
    pytest.importorskip("torch")
    text = "from torch.utils.data import Sampler\nclass Own(Sampler):\n    def __init__(self):\n        "
    with pytest.raises(TypeError, match="takes exactly one argument"):
        exec(text + call.format(given) + "\nOwn()", {})
    exec(text + call.format("").replace(", )", ")") + "\nOwn()", {})


def test_counts() -> None:
    rows = deprecations().values()
    whole = [each for each in rows if not each.parameter]
    assert len([each for each in whole if each.library == "torch"]) >= 92
    assert len([each for each in rows if each.parameter and each.library == "torch"]) >= 53


def test_no_symbol_is_known_in_two_places() -> None:
    for name in RENAMED:
        text = f"import torch\n\nprint({name})\n"
        assert {each.code for each in torchlint.lint(text, select=["TPL106", "TPL108", "TPL109"])} == {"TPL106"}, name
    gone = {"torch.nn.functional.sigmoid", "torch.nn.functional.tanh", "torch.nn.functional.nll_loss2d"}
    assert {name for name in RENAMED if (name, "") not in deprecations()} <= gone  # not deprecated by now, or gone before 1.0


@pytest.mark.parametrize(
    ("target", "deprecated", "removed"),
    [((1, 8), False, False), ((1, 9), True, False), ((1, 13), True, False), ((2, 0), True, True), ((2, 13), True, True)],
)
def test_it_depends_on_the_target(target: tuple[int, int], deprecated: bool, removed: bool) -> None:
    found = deprecations()["torch.symeig", ""]
    assert found.is_deprecated_for(TorchVersion(*target)) is deprecated
    assert found.is_removed_for(TorchVersion(*target)) is removed


def test_releases_of_other_libraries_count_by_the_torch_that_they_belong_to() -> None:
    found = deprecations()["torchvision.transforms.Scale", ""]  # removed in 0.12, that of torch 1.11
    assert (found.is_removed_for(TorchVersion(1, 10)), found.is_removed_for(TorchVersion(1, 11))) == (False, True)
    text = "import torchvision\nprepare = torchvision.transforms.Scale(256)\n"
    codes = [[each.code for each in torchlint.lint(text, target_torch=target)] for target in ("1.10", "1.11")]
    assert codes == [["TPL108"], ["TPL109"]]


# --- beside the torch that is installed ------------------------------------------------------------------------------


def resolved(symbol: str) -> object:
    """What a full name stands for; raises `AttributeError` or `ImportError` where it stands for nothing."""
    parts = symbol.split(".")
    for count in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:count]))
        except ModuleNotFoundError:
            continue
        for part in parts[count:]:
            found = getattr(found, part)
        return found
    raise ModuleNotFoundError(symbol)


def test_what_was_removed_is_gone_and_what_replaces_it_is_there() -> None:
    pytest.importorskip("torch")
    functions_that_became_modules = {"torch.fft"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for (symbol, parameter), found in deprecations().items():
            if found.library != "torch" or parameter:
                continue
            if found.removed and not found.only_raises and symbol not in functions_that_became_modules:
                with pytest.raises((AttributeError, ImportError)):
                    resolved(symbol)
            if found.replacement:
                assert resolved(found.replacement.partition("(")[0]) is not None, symbol


def test_a_device_is_no_id_by_now() -> None:
    torch = pytest.importorskip("torch")
    for value in (torch.nn.Linear(1, 1), torch.ones(1)):
        with pytest.raises(TypeError, match="device_id"):
            value.cuda(device_id=0)
        with contextlib.suppress(AssertionError, RuntimeError):  # where there is no GPU
            value.cuda(device=0)


def test_the_table_has_what_the_installed_torch_deprecates() -> None:
    torch = pytest.importorskip("torch")
    script = f"""
        import gc
        import sys
        from pathlib import Path
        gc.disable()  # all of torch's trees are kept: looking through them again and again takes longer than parsing
        sys.path.insert(0, {str(GENERATOR)!r})
        from history import release
        from libraries import Library, is_public
        from replacements import ABOUT_A_PART
        library = Library.of_folder(Path({str(Path(torch.__file__).parent)!r}), {torch.__version__!r})
        found = release(library)
        for (name, parameter), said in found.said.items():
            owner, dot, method = said[0].name.partition(".")
            spelled = [each + dot + method for each in library.spellings.get((said[0].module, owner), ())]
            about_a_part = not parameter and ABOUT_A_PART & set(spelled)
            if is_public(name) and not about_a_part and (not method or name == spelled[0]):
                print(name, parameter, sep="\\t")
    """
    run = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, encoding="utf-8", check=True)
    said = {tuple(line.split("\t")) for line in run.stdout.splitlines()}
    assert len(said) > 330
    lacking = sorted(name for name, parameter in said if (name, parameter) not in deprecations())
    assert lacking == [], "python tests/torch_api/deprecations/table.py WHEELS brings the table up to date"


# --- old and new, side by side ---------------------------------------------------------------------------------------


def _recipes() -> dict[str, tuple[Callable[[], Any], Callable[[], Any]]]:
    torch: Any = importlib.import_module("torch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        functorch = importlib.import_module("functorch")
    a, b, c = (torch.arange(6.0).reshape(2, 3) + 1, torch.arange(12.0).reshape(3, 4), torch.ones(4, 2))
    x = torch.tensor([1.0, 2.0, 3.0])

    def cube(y: Any) -> Any:
        return (y**3).sum()

    def by_both(name: str) -> tuple[Callable[[], Any], Callable[[], Any]]:
        return lambda: getattr(functorch, name)(cube)(x), lambda: getattr(torch.func, name)(cube)(x)

    def multiplied() -> Any:
        return torch.linalg.multi_dot([a, b, c])

    return {
        "torch.ger": (lambda: torch.ger(x, b[0]), lambda: torch.outer(x, b[0])),
        "torch.chain_matmul": (lambda: torch.chain_matmul(a, b, c), multiplied),
        "torch.functional.chain_matmul": (lambda: torch.functional.chain_matmul(a, b, c), multiplied),
        "functorch.vmap": (lambda: functorch.vmap(cube)(a), lambda: torch.func.vmap(cube)(a)),
        "functorch.vjp": (lambda: functorch.vjp(cube, x)[1](x[0])[0], lambda: torch.func.vjp(cube, x)[1](x[0])[0]),
        "functorch.jvp": (lambda: functorch.jvp(cube, (x,), (x,))[1], lambda: torch.func.jvp(cube, (x,), (x,))[1]),
        "functorch.grad_and_value": (
            lambda: functorch.grad_and_value(cube)(x)[0],
            lambda: torch.func.grad_and_value(cube)(x)[0],
        ),
        **{f"functorch.{name}": by_both(name) for name in ("grad", "jacrev", "jacfwd", "hessian")},
    }


def test_what_fixes_replace_safely_gives_the_same_and_warns_no_more() -> None:
    torch = pytest.importorskip("torch")
    recipes = _recipes()
    assert recipes.keys() == COMPARED
    for name, (old, new) in recipes.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            before = old()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            after = new()
        assert before.dtype == after.dtype and torch.equal(before, after), name


def test_mixed_precision_is_made_with_the_same_settings() -> None:
    torch = pytest.importorskip("torch")
    text = (
        "import torch\n\nmade = [\n    torch.cuda.amp.autocast(),\n    torch.cuda.amp.autocast(False, torch.bfloat16, False),\n"
        "    torch.cpu.amp.autocast(dtype=torch.float16),\n    torch.cuda.amp.GradScaler(8.0, enabled=False),\n]\n"
    )
    fixed = torchlint.fix(text, unsafe=True, select=["TPL108"])
    assert not fixed.remaining
    made = []
    for program in (text, fixed.text):
        names: dict[str, list[object]] = {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore" if program is text else "error", FutureWarning)
            warnings.filterwarnings("ignore", category=UserWarning)  # that there is no CUDA here
            exec(program, names)
        made.append(names["made"])
    for old, new in zip(*made, strict=True):
        for attribute in ("device", "fast_dtype", "_enabled", "_cache_enabled", "_init_scale", "_growth_interval"):
            assert getattr(old, attribute, None) == getattr(new, attribute, None), attribute
    assert isinstance(made[1][3], torch.amp.GradScaler)


def test_a_call_that_hands_on_arguments_by_place_is_left_to_people() -> None:
    text = "from torch.cuda.amp import autocast\n\n\ndef run(*settings):\n    with autocast(*settings):\n        pass\n"
    (found,) = torchlint.lint(text, select=["TPL108"])
    assert found.fix is None

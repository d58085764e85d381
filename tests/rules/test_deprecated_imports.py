"""What fixes of deprecated APIs leave of the imports, and for which torch something is deprecated or gone."""

from __future__ import annotations

import pytest

import torchlint

RULES = ["TPL108", "TPL109"]
USE = "with autocast():\n    pass\n"
MENDED = 'with torch.amp.autocast("cuda"):\n    pass\n'


def fixed(text: str) -> str:
    return torchlint.fix(text, unsafe=True, select=RULES).text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            f"from torch.cuda.amp import autocast\n\n{USE}",
            f"import torch\n\n{MENDED}",
            id="the import of what is called otherwise",
        ),
        pytest.param(
            f"import torch\nfrom torch.cuda.amp import GradScaler, autocast\n\nscaler = GradScaler()\n{USE}",
            f'import torch\n\nscaler = torch.amp.GradScaler("cuda")\n{MENDED}',
            id="two of one import",
        ),
        pytest.param(
            "import torch\nfrom torch import ger, outer\n\nprint(ger(x, y), outer(x, y))\n",
            "import torch\nfrom torch import outer\n\nprint(outer(x, y), outer(x, y))\n",
            id="a name that is imported already",
        ),
        pytest.param(
            "import torch\nfrom torch import ger\nprint(ger(x, y))\nfrom torch import outer\nprint(outer(x, y))\n",
            "import torch\nfrom torch import outer\nprint(outer(x, y))\nfrom torch import outer\nprint(outer(x, y))\n",
            id="a name that is imported later",
        ),
        pytest.param(
            "import torch\nfrom torch import ger\n\nprint(ger(x, y))\n",
            "import torch\nfrom torch import outer\n\nprint(outer(x, y))\n",
            id="a new name",
        ),
        pytest.param(
            "import torch\nfrom torch.cuda.amp import autocast\n\n\ndef run(*settings):\n"
            "    with autocast(*settings), autocast():\n        pass\n",
            "import torch\nfrom torch.cuda.amp import autocast\n\n\ndef run(*settings):\n"
            '    with autocast(*settings), torch.amp.autocast("cuda"):\n        pass\n',
            id="one use stays, and the import does",
        ),
        pytest.param(
            f'import torch\nfrom torch.cuda.amp import autocast\n\n__all__ = ["autocast"]\n{USE}',
            f'import torch\nfrom torch.cuda.amp import autocast\n\n__all__ = ["autocast"]\n{MENDED}',
            id="others import it from here",
        ),
        pytest.param(
            f"import torch\nfrom torch.cuda.amp import autocast  # noqa: F401\n\n{USE}",
            f"import torch\nfrom torch.cuda.amp import autocast  # noqa: F401\n\n{MENDED}",
            id="for others, says a comment",
        ),
        pytest.param(
            "try:\n    from torch.cuda.amp import autocast\n"
            f"except ImportError:\n    from contextlib import nullcontext as autocast\n{USE}",
            None,
            id="one of two",
        ),
        pytest.param(
            f"try:\n    from torch.cuda.amp import autocast\nexcept ImportError:\n    autocast = None\n\n{USE}",
            None,
            id="what may be missing",
        ),
        pytest.param(
            "try:\n    from torch import set_deterministic\nexcept ImportError:\n    pass\n\nset_deterministic(True)\n",
            None,
            id="what is gone, and may be missing",
        ),
    ],
)
def test_imports_are_mended_with_the_use(before: str, after: str | None) -> None:
    assert fixed(before) == (before if after is None else after)


def test_a_package_imports_for_others() -> None:
    text = "from torch.cuda.amp import autocast\n"
    assert torchlint.lint(text, filename="package/__init__.py", select=RULES) == []
    assert len(torchlint.lint(text, filename="package/module.py", select=RULES)) == 1


def test_an_import_that_another_file_may_use_goes_unsafely() -> None:
    (found,) = torchlint.lint("import torch\nfrom torch.cuda.amp import autocast\n", select=RULES)
    assert found.fix is not None and found.fix.applicability is torchlint.Applicability.UNSAFE
    (found,) = torchlint.lint("def f():\n    from torch.cuda.amp import autocast\n\n    return 1\n", select=RULES)
    assert found.fix is not None and found.fix.applicability is torchlint.Applicability.SAFE


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("torch.cuda.amp.autocast()", {"2.3": [], "2.4": ["TPL108"], "2.13": ["TPL108"]}),
        (
            "torch.set_deterministic(True)",
            {"1.7": [], "1.8": ["TPL108"], "1.9": ["TPL108"], "1.10": ["TPL109"], "2.13": ["TPL109"]},
        ),
        ("torch.rfft(x, 1)", {"1.6": [], "1.7": ["TPL108"], "1.8": ["TPL109"]}),
        ("torch.symeig(x)", {"1.8": [], "1.9": ["TPL108"], "1.13": ["TPL108"], "2.0": ["TPL109"]}),
        ("torch.eye(2).potri()", {"1.0": [], "1.1": ["TPL108"], "1.2": ["TPL109"]}),
        ("torch.nn.Linear(2, 2).register_backward_hook(f)", {"1.7": [], "1.8": ["TPL108"], "2.13": ["TPL108"]}),
        ("torch.utils.checkpoint.checkpoint(f, x)", {"1.10": [], "1.11": ["TPL111"], "2.13": ["TPL111"]}),
    ],
)
def test_deprecated_for_targets_that_have_the_replacement_and_removed_for_those_that_lack_it(
    text: str, codes: dict[str, list[str]]
) -> None:
    program = f"import torch\nimport torch.utils.checkpoint\n\n{text}\n"
    every = [*RULES, "TPL111"]
    found = {target: [each.code for each in torchlint.lint(program, target_torch=target, select=every)] for target in codes}
    assert found == codes


@pytest.mark.parametrize("name", ["VideoReader", "read_video", "read_video_timestamps", "write_video"])
def test_a_message_says_what_to_do_and_not_what_a_function_does(name: str) -> None:
    [found] = torchlint.lint(f"from torchvision import io\n\nx = io.{name}(path)\n", select=["TPL109"])
    assert found.message == f"`io.{name}` was removed in torchvision 0.26: We recommend that you migrate to TorchCodec"


def test_a_message_does_not_lead_to_what_was_removed_later() -> None:
    [found] = torchlint.lint("import torch\n\nx, _ = torch.gesv(b, a)\n", select=["TPL109"])
    assert found.message.endswith("use torch.linalg.solve instead, with the arguments the other way round")


@pytest.mark.parametrize(("used", "is_told"), [("remove_weight_norm(layer)\n", True), ("print(layer)\n", False)])
def test_what_takes_a_weight_norm_off_is_told_where_the_file_does(used: str, is_told: bool) -> None:
    imports = f"import torch.nn as nn\nfrom torch.nn.utils import {'remove_weight_norm, ' if is_told else ''}weight_norm\n"
    found = torchlint.lint(f"{imports}layer = weight_norm(nn.Linear(2, 2))\n{used}", select=["TPL108"])
    [message] = [each.message for each in found if each.location.row == 3]
    assert message.endswith("`torch.nn.utils.parametrize.remove_parametrizations` takes it off") is is_told


def test_of_one_import_that_is_changed_by_hand_the_first_use_counts() -> None:
    layer = "weight_norm(nn.Linear(2, 2))"
    code = f"import torch.nn as nn\nfrom torch.nn.utils import weight_norm\n\nfirst = {layer}\nsecond = [{layer}, {layer}]\n"
    assert [each.location.row for each in torchlint.lint(code)] == [4]
    found = torchlint.lint(code, select=["TPL108"])
    assert [(each.location.row, each.is_strict) for each in found] == [(4, False), (5, True), (5, True)]
    whole = code.replace("from torch.nn.utils import weight_norm", "from torch.nn import utils").replace(
        "weight_norm", "utils.weight_norm"
    )
    assert [each.location.row for each in torchlint.lint(whole)] == [4, 5, 5]

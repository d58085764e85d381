"""Which code is there for one version of a library."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.semantics.apis.versions import Versions


def asked_for(snippet: str) -> bool:
    semantics, (node,) = marked(snippet)
    return semantics.of(Versions).are_asked_for(node)


@pytest.mark.parametrize(
    "snippet",
    [
        pytest.param("if torch.__version__ < '1.0':\n    «f()»", id="the version itself"),
        pytest.param("if torch_version >= 1:\n    «f()»", id="a name for it"),
        pytest.param("x = «f()» if IS_OLD_TORCH else g()", id="a conditional expression"),
        pytest.param("if not hasattr(torch.nn.init, 'normal_'):\n    «f()»", id="what torch has"),
        pytest.param("x.item() if hasattr(x, 'item') else «f()»", id="what all tensors have"),
        pytest.param(
            "def h(x):\n    if hasattr(x, 'detach'):\n        return x.detach()\n    return «f()»", id="left over by tensors"
        ),
        pytest.param("try:\n    g()\nexcept AttributeError:\n    «f()»", id="what it turned out to lack"),
        pytest.param("try:\n    g()\nexcept (OSError, TypeError):\n    «f()»", id="one of several errors"),
        pytest.param("try:\n    g()\nexcept:\n    «f()»", id="any error"),
        pytest.param("def h():\n    if hasattr(torch, 'g'):\n        return g()\n    return «f()»", id="left over"),
        pytest.param("for x in y:\n    if TORCH_VERSION > 2:\n        continue\n    with a:\n        «f()»", id="further in"),
    ],
)
def test_is_for_a_version(snippet: str) -> None:
    assert asked_for(snippet)


@pytest.mark.parametrize(
    "snippet",
    [
        pytest.param("«f()»", id="no question"),
        pytest.param("if version == 2:\n    «f()»", id="the version of something else"),
        pytest.param("if hasattr(model, 'head'):\n    «f()»", id="what something else has"),
        pytest.param("if hasattr(model, name):\n    «f()»", id="what is not written out"),
        pytest.param("try:\n    «f()»\nexcept AttributeError:\n    g()", id="what is tried"),
        pytest.param("try:\n    g()\nexcept OSError:\n    «f()»", id="another error"),
        pytest.param(
            "def h():\n    if hasattr(torch, 'g'):\n        g()\n    return «f()»", id="a question that leaves nothing"
        ),
        pytest.param("def h():\n    «f()»\n    if hasattr(torch, 'g'):\n        return g()", id="in front of the question"),
        pytest.param("def h():\n    if x:\n        return g()\n    return «f()»", id="another question"),
    ],
)
def test_is_for_all_versions(snippet: str) -> None:
    assert not asked_for(snippet)


@pytest.mark.parametrize(
    ("snippet", "missed"),
    [
        ("try:\n    «f()»\nexcept AttributeError:\n    g()", True),
        ("try:\n    x = «f()»\nexcept (RuntimeError, ValueError):\n    g()", True),
        ("try:\n    if y:\n        «f()»\nexcept:\n    g()", True),
        ("try:\n    «f()»\nexcept OSError:\n    g()", False),
        ("try:\n    «f()»\nfinally:\n    g()", False),
        ("try:\n    g()\nexcept AttributeError:\n    «f()»", False),
        ("try:\n    def h(): «f()»\nexcept AttributeError:\n    g()", False),
    ],
)
def test_is_missed(snippet: str, missed: bool) -> None:
    semantics, (node,) = marked(snippet)
    assert semantics.of(Versions).are_missed(node) is missed


@pytest.mark.parametrize(
    ("snippet", "is_old"),
    [
        ("if sys.version_info[0] == 2:\n    «f(x)»", True),
        ("if sys.version_info < (3,):\n    «f(x)»", True),
        ("if sys.version_info < (3, 0):\n    «f(x)»", True),
        ("if sys.version_info.major < 3:\n    «f(x)»", True),
        ("if six.PY2:\n    y = [«f(x)»]", True),
        ("if not PY3:\n    «f(x)»", True),
        ("if sys.version_info[0] >= 3:\n    pass\nelse:\n    «f(x)»", True),
        ("y = «f(x)» if PY2 else g(x)", True),
        ("if sys.version_info[0] == 3:\n    «f(x)»", False),
        ("if sys.version_info < (3, 5):\n    «f(x)»", False),
        ("if sys.version_info[1] < 3:\n    «f(x)»", False),
        ("if sys.version_info[0] == 2:\n    pass\nelse:\n    «f(x)»", False),
        ("if sys.version_info[0] == 2:\n    pass\nelif y:\n    «f(x)»", False),
        ("if PY2 or fast:\n    «f(x)»", False),
        ("if sys.version_info[0] == 2:\n    pass\n«f(x)»", False),
        ("if fast:\n    «f(x)»", False),
    ],
)
def test_code_that_only_python_2_runs(snippet: str, is_old: bool) -> None:
    semantics, (node,) = marked("import sys\n" + snippet)
    assert semantics.of(Versions).are_of_python_2(node) is is_old

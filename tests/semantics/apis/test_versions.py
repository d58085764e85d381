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
        pytest.param("try:\n    g()\nexcept AttributeError:\n    «f()»", id="what it turned out to lack"),
        pytest.param("try:\n    g()\nexcept (OSError, TypeError):\n    «f()»", id="one of several errors"),
        pytest.param("try:\n    g()\nexcept:\n    «f()»", id="any error"),
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
        pytest.param("try:\n    «f()»\nexcept AttributeError:\n    g()", id="what is tried"),
        pytest.param("try:\n    g()\nexcept OSError:\n    «f()»", id="another error"),
    ],
)
def test_is_for_all_versions(snippet: str) -> None:
    assert not asked_for(snippet)

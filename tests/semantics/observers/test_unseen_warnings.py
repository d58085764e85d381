"""Whether a file takes notice of warnings."""

from __future__ import annotations

import ast

import pytest

from torchlint.fact import Fact
from torchlint.semantics import Semantics
from torchlint.semantics.observers.unseen_warnings import UnseenWarnings


def fact(text: str) -> Fact:
    """Whether nothing in a file of this text takes notice of a warning."""
    return Semantics(ast.parse(text)).of(UnseenWarnings).fact


@pytest.mark.parametrize(
    "text",
    [
        "print(1)",
        "import warnings\nwarnings.filterwarnings('ignore')",
        "import warnings\nwarnings.filterwarnings(action='ignore', category=UserWarning)",
        "from warnings import simplefilter\nsimplefilter('once')",
        "import warnings\nwarnings.warn('old', DeprecationWarning)",
        "log.warning('%d', 3)",
    ],
)
def test_nobody_looks_at_warnings(text: str) -> None:
    assert fact(text).is_certain


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("import warnings\nwarnings.simplefilter('error')", "warnings.simplefilter"),
        ("import warnings\nwarnings.filterwarnings('error', category=UserWarning)", "warnings.filterwarnings"),
        ("import warnings\nwarnings.filterwarnings(action)", "warnings.filterwarnings"),
        ("from warnings import catch_warnings\nwith catch_warnings(record=True):\n    pass", "catch_warnings"),
        ("import warnings\nwarnings.showwarning = f", "showwarning"),
        ("logging.captureWarnings(True)", "captureWarnings"),
        ("import warnings\nw = warnings.simplefilter", "warnings.simplefilter"),
        ("try:\n    f()\nexcept UserWarning:\n    pass", "UserWarning"),
        ("try:\n    f()\nexcept (ValueError, DeprecationWarning):\n    pass", "DeprecationWarning"),
        ("with pytest.warns(UserWarning):\n    f()", "warns"),
    ],
)
def test_somebody_looks_at_warnings(text: str, shown: str) -> None:
    assert fact(text).doubt == f"`{shown}` may take notice of the warning that goes"

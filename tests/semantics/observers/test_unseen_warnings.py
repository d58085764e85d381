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


@pytest.mark.parametrize(
    "text",
    [
        "import warnings\nwarnings.filterwarnings('ignore')",
        "import warnings\nwarnings.simplefilter('ignore')",
        "from warnings import filterwarnings\nfilterwarnings(action='ignore')",
        "import warnings\nwarnings.simplefilter('ignore', UserWarning)",
        "import warnings\nwarnings.filterwarnings('ignore', category=UserWarning)\nwarnings.filterwarnings('ignore', 'a text')",
        "import warnings\nif True:\n    warnings.filterwarnings('ignore', '', Warning)",
    ],
)
def test_warnings_are_hidden_for_the_whole_run(text: str) -> None:
    assert UnseenWarnings(Semantics(ast.parse(text))).are_hidden


@pytest.mark.parametrize(
    "text",
    [
        "import warnings",
        "import warnings\nwarnings.filterwarnings('error')",
        "import warnings\nwarnings.filterwarnings('ignore', category=FutureWarning)",
        "import warnings\nwarnings.filterwarnings('ignore', 'a text')",
        "import warnings\nwarnings.filterwarnings('ignore', module='pandas')",
        "import warnings\nwarnings.filterwarnings('ignore')\nwarnings.filterwarnings('default', category=UserWarning)",
        "import warnings\nwarnings.filterwarnings('ignore')\nwarnings.resetwarnings()",
        "import warnings\nwith warnings.catch_warnings():\n    warnings.simplefilter('ignore')",
        "import warnings\ndef quiet():\n    warnings.simplefilter('ignore')",
        "def filterwarnings(action):\n    pass\nfilterwarnings('ignore')",
    ],
)
def test_warnings_may_be_seen(text: str) -> None:
    assert not UnseenWarnings(Semantics(ast.parse(text))).are_hidden

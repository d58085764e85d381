"""Which values choose something, so that they are integers."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.semantics.graphs.likely.choosing import Choosing


def chooses(text: str) -> bool:
    semantics, [node] = marked("import numpy as np\nimport torch\n" + text)
    return semantics.of(Choosing).is_one(node)


@pytest.mark.parametrize(
    "text",
    [
        "table[«x».data.cpu().numpy()]",
        "table[«x».data[0], :]",
        "np.bincount(«x».data.numpy())",
        "itos(«x[:, j].cpu()».data.numpy(), field)",
        "places = «x».data.tolist()\ntable[places]",
        "rows = «x».data.cpu().numpy()\ntext = [[words[n] for n in row] for row in rows]",
        "for n in «x».data.numpy():\n    print(words[n])",
        "rows = [«x».data.cpu().numpy() for x in parts]\nfor row in rows:\n    ids_to_text(row, words)",
        "def cut(row, end):\n    if end in row:\n        return row[:3]\n    return row\n"
        "rows = [cut(«x».data.tolist(), end) for x in parts]\ntext = [index_to_words(row) for row in rows]",
        "class Show:\n    def cut(self, row):\n        return row[:3]\n    def text(self, x):\n"
        "        row = self.cut(«x».data.tolist())\n        return [self.words[n] for n in row]",
    ],
)
def test_something_is_chosen(text: str) -> None:
    assert chooses(text)


@pytest.mark.parametrize(
    "text",
    [
        "show(«x».data.cpu().numpy())",
        "rows = «x».data.numpy()\nfor row in rows:\n    kept.append(row)",
        "rows = «x».data.numpy()\nfor row in rows:\n    table[len(row)]",
        "rows = «x».data.numpy()\nrows = given(rows)\ntable[rows]",  # another value by then
        "rows = «x».data.numpy()\nif late:\n    rows = places\ntable[rows]",
        "def cut(row):\n    return scale(row)\nrow = cut(«x».data.tolist())\ntable[row]",
        "def cut(row):\n    row = scale(row)\n    return row\nrow = cut(«x».data.tolist())\ntable[row]",
        "@cached\ndef cut(row):\n    return row\nrow = cut(«x».data.tolist())\ntable[row]",
        "def cut(row, n):\n    return n\nrow = cut(«x».data.tolist(), place)\ntable[row]",
        "row = cut(«x».data.tolist())\ntable[row]",
        "table[«x».data.float().numpy() > 0.5]",
        "for i, n in enumerate(«x».data.numpy()):\n    words[i]",
        "a = «x».data\nb = a\na = b",  # goes round
    ],
)
def test_nothing_is_chosen(text: str) -> None:
    assert not chooses(text)

"""Legacy constructors at places where the one line may mean two things."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.aliasing.shared_buffers import SharedBuffers
from torchlint.semantics.apis.two_meanings import Ambiguities, TwoMeanings


def meanings(snippet: str) -> TwoMeanings | None:
    semantics, [call] = marked("import numpy as np\nimport torch\n" + snippet)
    assert isinstance(call, ast.Call)
    return semantics.of(Ambiguities).found.get(call)


@pytest.mark.parametrize(
    "snippet",
    [
        "def f(state): «torch.FloatTensor(state)»",
        "def f(self): «torch.Tensor(self.target)»",
        "def f(batch): «torch.LongTensor(batch[0])»",
        "def f(env): «torch.FloatTensor(env.step())»",
        "def f(done): «torch.FloatTensor(1 - done)»",
        "def f(label):\n    x = torch.zeros(3)\n    «x.new(label)»",
        "def f(total): «torch.cuda.FloatTensor(total)»",
        "def f(a):\n    state = g(a)\n    print(state)\n    «torch.FloatTensor(state)»",
    ],
)
def test_one_argument_may_be_a_size_or_data(snippet: str) -> None:
    assert meanings(snippet) is TwoMeanings.SIZE_OR_DATA


@pytest.mark.parametrize(
    "snippet",
    [
        "def f(x): «torch.FloatTensor(x[:, 1:2])»",
        "def f(x): «torch.FloatTensor(x.astype(int))»",
        "def f(x): «torch.FloatTensor(x.T)»",
        "def f(x):\n    print(len(x))\n    «torch.FloatTensor(x)»",
        "def f(x):\n    for y in x: print(y)\n    «torch.FloatTensor(x)»",
        "def f(x):\n    print(x[0])\n    «torch.FloatTensor(x)»",
        "def f(x):\n    if 3 in x: «torch.FloatTensor(x)»",
        "def f(x):\n    x = x[:2] + x[4:]\n    «torch.FloatTensor(x)»",
        "def f(pairs):\n    a, b = zip(*pairs)\n    «torch.FloatTensor(b)»",
        "def f(rewards): «torch.FloatTensor(rewards)»",
        "def f(batch): «torch.FloatTensor(batch['labels'])»",
        "def f(x): «torch.FloatTensor(np.concatenate(x))»",
        "def f(x): «torch.FloatTensor(sorted(x))»",
        "class A:\n    def f(self):\n        print(len(self.x))\n        «torch.FloatTensor(self.x)»",
        "class A:\n    def __init__(self): self.x = np.zeros(3)\n    def f(self): «torch.FloatTensor(self.x)»",
    ],
)
def test_what_is_data_for_certain_means_one_thing(snippet: str) -> None:
    assert meanings(snippet) is None


@pytest.mark.parametrize(
    "snippet",
    [
        "«torch.Tensor(3, 4)»",
        "«torch.FloatTensor(3)»",
        "«torch.LongTensor([1, 2])»",
        "«torch.Tensor([1.5, 2])»",
        "def f(hidden_size): «torch.Tensor(hidden_size)»",
        "def f(x): «torch.Tensor(x)».zero_()",
        "def f(x): «torch.Tensor(x.size())»",
        "def f(x): «torch.Tensor(x.shape)».zero_()",
        "def f(storage): «torch.Tensor(storage)»",
        "«torch.Tensor(torch.zeros(3).untyped_storage())»",
        "buffer = torch.ByteStorage.from_buffer(b'')\n«torch.ByteTensor(buffer)»",
        "def f(sizes): «torch.Tensor(*sizes)»",
    ],
)
def test_what_is_dated_means_one_thing(snippet: str) -> None:
    assert meanings(snippet) is None


@pytest.mark.parametrize(
    ("snippet", "is_value"),
    [
        ("reward = 0\nx = «torch.FloatTensor(reward)»\nprint(x + 1)", True),
        ("def f(loss):\n    mean = loss.item()\n    return «torch.Tensor(mean)»", True),
        ("reward = 0\nx = «torch.FloatTensor(reward)»\nx.fill_(1)", False),
        ("reward = 0\nx = «torch.FloatTensor(reward)»\nx[0] = 1", False),
        ("reward = 0\nx = «torch.FloatTensor(reward)»\nfill(x)", False),
        ("n = 3\nx = «torch.FloatTensor(n)»\nprint(x)", False),
        ("batch_size = 3\nx = «torch.FloatTensor(batch_size)»\nprint(x)", False),
        ("many = len(names)\nx = «torch.FloatTensor(many)»\nprint(x)", False),
        ("reward = 0\nx = torch.nn.Parameter(«torch.FloatTensor(reward)»)\nprint(x)", False),
    ],
)
def test_a_number_that_counts_nothing_is_taken_for_a_size(snippet: str, is_value: bool) -> None:
    assert meanings(snippet) is (TwoMeanings.COUNT_OR_VALUE if is_value else None)


@pytest.mark.parametrize(
    ("snippet", "found"),
    [
        ("def f(image): «torch.Tensor(image.shape[1::-1])»", TwoMeanings.SIZE_OR_SHAPE),
        ("def f(x):\n    x = x + torch.zeros(3)\n    «torch.Tensor(x.shape)»", None),
        ("a = np.zeros(3)\n«torch.Tensor(a.shape)»", None),
        ("«torch.Tensor(torch.tensor([1, 2]))»", TwoMeanings.ANY_DTYPE),
        ("x = torch.zeros(3)\n«torch.LongTensor(x)»", TwoMeanings.ANY_DTYPE),
        ("x = torch.zeros(3)\nif a: x = torch.ones(3)\n«torch.LongTensor(x)»", TwoMeanings.ANY_DTYPE),
        ("x = load()\nif a: x = torch.ones(3)\n«torch.LongTensor(x)»", None),
        ("s = reset()\ndef f(env):\n    global s\n    s = «torch.FloatTensor(s)»\n    s, done = env.step(s)", None),
        ("x = torch.zeros(3)\n«torch.LongTensor(x.long())»", None),
        ("x = torch.zeros(3)\n«torch.Tensor(x.float())»", None),
        ("«torch.LongTensor([0.5, 1])»", TwoMeanings.CUT_OFF),
        ("«torch.IntTensor([[-1, 2.5]])»", TwoMeanings.CUT_OFF),
        ("«torch.LongTensor([2.0, 1])»", None),
        ("«torch.FloatTensor([0.5, 1])»", None),
        ("def f(env): «torch.Tensor(env.action_space.shape)»", None),
        ("class A:\n    def f(self):\n        self.s = np.ones(3)\n        self.s = torch.zeros(«torch.Tensor(self.s)»)", None),
        (
            "class A:\n    def f(self):\n        self.s = np.ones(3) * x\n        self.s = «torch.Tensor(self.s)»",
            None,
        ),
        ("class A:\n    def f(self):\n        self.s, n = np.unique(3)\n        self.s = «torch.Tensor(self.s)»", None),
        ("def f(l: DataLoader):\n    for x, y in l:\n        «torch.Tensor(y)»", None),
        ("def f(l: DataLoader):\n    for b in l:\n        x = b['x'][0]\n        «torch.Tensor(x[:3])»", None),
        ("l = DataLoader(d)\nfor x, y in l:\n    «torch.LongTensor(y)»", TwoMeanings.ANY_DTYPE),
        # tensors by one way, and by another one arrays or nobody knows what
        ("x = torch.ones(3) if a else load()\n«torch.LongTensor(x)»", None),
        ("x = torch.ones(3) if a else torch.zeros(3)\n«torch.LongTensor(x)»", TwoMeanings.ANY_DTYPE),
        ("x = torch.ones(3) if a else np.ones(3)\n«torch.LongTensor(x[0])»", TwoMeanings.SIZE_OR_DATA),
        (
            "class A:\n    def __init__(self, x, t): self.x = torch.from_numpy(x) if t else x\n"
            "    def f(self, i): «torch.Tensor(self.x[i])»",
            None,
        ),
        (
            "class A:\n    def __init__(self, x): self.x = torch.from_numpy(x)\n    def f(self, i): «torch.Tensor(self.x[i])»",
            TwoMeanings.ANY_DTYPE,
        ),
        ("def load(x):\n    if a: return torch.ones(3)\n    return x\n«torch.LongTensor(load(x))»", None),
        ("def load(x):\n    if a: return torch.ones(3)\n    return x\ny = load(x)\n«torch.LongTensor(y)»", None),
        ("def load(): return torch.ones(3)\n«torch.LongTensor(load())»", TwoMeanings.ANY_DTYPE),
        ("«torch.Tensor(np.eye(3)[y])».long()", None),
        ("def f(ids): «torch.Tensor(ids)».long()", TwoMeanings.ROUNDED),
        ("def f(ids):\n    a = np.zeros(ids.shape)\n    a[1:] = ids\n    «torch.Tensor(a)».long()", None),
        ("a, b, c, d = sklearn.train_test_split(x, np.zeros(3))\n«torch.Tensor(d)».long()", None),
        ("a, b, c, d = sklearn.train_test_split(x, np.zeros(3))\n«torch.Tensor(b)».long()", TwoMeanings.ROUNDED),
        ("def f(ids):\n    a = np.zeros(ids.shape, np.int64)\n    «torch.Tensor(a)».long()", TwoMeanings.ROUNDED),
        ("def f(n): «torch.Tensor([n, 1])».to(torch.int64)", TwoMeanings.ROUNDED),
        ("def f(ids): «torch.FloatTensor(ids)».type(torch.LongTensor)", TwoMeanings.ROUNDED),
        ("def f(ids): «torch.Tensor(np.array(ids))».long()", TwoMeanings.ROUNDED),
        ("def f(ids): «torch.Tensor(np.array(ids, dtype=np.int64))».long()", TwoMeanings.ROUNDED),
        ("def f(ids): «torch.Tensor(np.array(ids, np.float32))».long()", None),
        ("def f(ids): «torch.Tensor(np.asarray(ids, dtype=float))».long()", None),
        ("def f(ids): «torch.Tensor(ids.astype(np.float64))».long()", None),
        ("import cv2\nx = cv2.imread('a.png')\n«torch.Tensor(x.shape[1::-1])»", None),
        (
            "import cv2\ndef f(x):\n    if len(x): x = cv2.imread('a.png')\n    «torch.Tensor(x.shape[1::-1])»",
            TwoMeanings.SIZE_OR_SHAPE,
        ),
        ("def f(ids): «torch.DoubleTensor(ids)».long()", None),
        ("def f(ids): «torch.Tensor(ids)».float()", None),
        ("«torch.Tensor([1, 2])».long()", None),
    ],
)
def test_shapes_dtypes_and_what_is_rounded(snippet: str, found: TwoMeanings | None) -> None:
    assert meanings(snippet) is found


ASKED = "if not isinstance(x, torch.Tensor):\n    "


@pytest.mark.parametrize(
    ("snippet", "found"),
    [
        (ASKED + "x = «torch.FloatTensor(x)»", TwoMeanings.SIZE_OR_DATA),
        ("t = x if isinstance(x, torch.Tensor) else «torch.FloatTensor(x)»", TwoMeanings.SIZE_OR_DATA),
        (ASKED + "x = torch.FloatTensor(x)\n    y = «torch.LongTensor(y)»", TwoMeanings.SIZE_OR_DATA),
        (ASKED + "x = torch.FloatTensor(x)\n    y = «torch.LongTensor(z)»", TwoMeanings.ANY_DTYPE),
        (ASKED + "x = list(x)\n    y = «torch.LongTensor(y)»", TwoMeanings.ANY_DTYPE),
        (ASKED + "x = torch.FloatTensor(x)\ny = «torch.LongTensor(y)»", TwoMeanings.ANY_DTYPE),
        ("if isinstance(x, torch.Tensor):\n    x = «torch.FloatTensor(x)»", TwoMeanings.ANY_DTYPE),
        ("if not isinstance(x, nn.Parameter):\n    x = «torch.FloatTensor(x)»", TwoMeanings.ANY_DTYPE),
        ("«torch.FloatTensor(x)»", TwoMeanings.ANY_DTYPE),
    ],
)
def test_what_is_asked_for_its_class_beforehand(snippet: str, found: TwoMeanings | None) -> None:
    body = snippet.replace("\n", "\n    ")
    program = f"from torch import nn\ndef f(x, y):\n    z = torch.arange(3)\n    {body}\nf(torch.ones(3), torch.ones(3))"
    assert meanings(program) is found


@pytest.mark.parametrize(
    ("snippet", "is_perhaps_shared"),
    [
        ("def f(x):\n    a = np.asarray(x)\n    t = «torch.FloatTensor(a)»\n    a[0] = 1\n    return t", True),
        ("def f(x):\n    a = np.asarray(x)\n    t = «torch.FloatTensor(a)»\n    t.zero_()\n    return a", True),
        ("def f(x):\n    a = np.asarray(x)\n    t = «torch.FloatTensor(a)»\n    return t", False),
        ("def f(x):\n    a = np.asarray(x)\n    a[0] = 1\n    t = «torch.FloatTensor(a)»\n    return t", False),
        ("def f(x):\n    a = np.zeros(3)\n    t = «torch.FloatTensor(a)»\n    a[0] = 1\n    return t", False),
        ("def f(x):\n    t = «torch.FloatTensor(np.asarray(x))»\n    t.zero_()\n    return t", False),
    ],
)
def test_an_array_that_is_changed_may_be_shared(snippet: str, is_perhaps_shared: bool) -> None:
    semantics, [call] = marked("import numpy as np\nimport torch\n" + snippet)
    assert (call in semantics.of(SharedBuffers).perhaps) is is_perhaps_shared

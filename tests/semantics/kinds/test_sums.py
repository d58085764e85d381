"""The kinds of what is put together in steps: sums, lists that grow, dicts of several makers, and what functions return."""

from __future__ import annotations

import pytest

from marked import kind

HEADER = "import torch\nfrom torch import nn\n"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("total = 0.0\nfor part in parts:\n    total += part.pages\nprint(«total».data[0])", "tensor"),
        ("total = 0.0\nfor part in parts:\n    total -= part.pages\nprint(«total».data)", "tensor"),
        ("total = 0.0\nfor part in parts:\n    total += part.pages\nprint(«total».pages)", "number"),
        ("total = 0.0\nfor part in parts:\n    total += 1\nprint(«total».data)", "number"),
    ],
)
def test_number_of_which_data_is_read_is_a_sum_of_tensors(body: str, expected: str) -> None:
    assert kind(HEADER + body) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("found = []\nfor part in parts:\n    found += [torch.zeros(2)]\nprint([«each» for each in found])", "tensor"),
        ("found = []\nfor part in parts:\n    found += part\nprint([«each» for each in found])", "unknown"),
    ],
)
def test_list_that_grows_holds_what_is_added(body: str, expected: str) -> None:
    assert kind(HEADER + body) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("found = {'a': torch.zeros(2), 'b': 1} if flag else {'a': pages}\nprint(«found['a']»)", "tensor"),
        ("found = {'a': torch.zeros(2), 'b': 1} if flag else {'a': pages}\nprint(«found['b']»)", "number"),
        ("found = {'a': torch.zeros(2)} if flag else {'a': 'text'}\nprint(«found['a']»)", "unknown"),
    ],
)
def test_dict_is_one_of_several(body: str, expected: str) -> None:
    assert kind(HEADER + body) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            "def f(x):\n    def g(y):\n        return y.pages\n    return {'a': torch.zeros(2)}\nprint(«f(1)['a']»)",
            "tensor nograd",
        ),
        ("def f(x):\n    def g(y):\n        return torch.zeros(2)\n    return x.pages\nprint(«f(1)»)", "unknown"),
        (
            "def f(x):\n    class G:\n        def g(self):\n            return torch.zeros(2)\n    return G\nprint(«f(1)»)",
            "class",
        ),
    ],
)
def test_what_nested_functions_return_is_not_returned(body: str, expected: str) -> None:
    assert kind(HEADER + body) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            "def f(model):\n    model.load_state_dict(state)\n    return «model(source=torch.zeros(2))»",
            "tensor loose",
        ),
        ("def f(model):\n    model.load_state_dict(state)\n    return «model(width=3)»", "unknown"),
    ],
)
def test_module_that_is_given_a_tensor_is_run(body: str, expected: str) -> None:
    assert kind(HEADER + body) == expected

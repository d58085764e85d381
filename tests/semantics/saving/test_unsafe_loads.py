"""Loads that are told to unpickle anything, and the reasons why."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.saving.unsafe_loads import UnsafeLoads


def loads_of(snippet: str) -> tuple[UnsafeLoads, ast.Call]:
    semantics, (node,) = marked("import torch\n" + snippet)
    assert isinstance(node, ast.Call)
    return semantics.of(UnsafeLoads), node


def told(snippet: str) -> object:
    """The constant that the marked load is given; `...` where it is given none."""
    loads, call = loads_of(snippet)
    found = loads.told.get(call)
    return ... if found is None else ast.literal_eval(found.value)


@pytest.mark.parametrize(
    ("snippet", "constant"),
    [
        ("«torch.load(p, weights_only=False)»", False),
        ("«torch.load(p, weights_only=True)»", True),
        ("«torch.load(p, weights_only=None)»", None),
        ("«torch.hub.load_state_dict_from_url(p, weights_only=False)»", False),
        ("SAFE = False\ndef f(p): return «torch.load(p, weights_only=SAFE)»", False),
        ("a = False\nb = a\n«torch.load(p, weights_only=b)»", False),
        ("if c: a = False\nelse: a = False\n«torch.load(p, weights_only=a)»", False),
        ("«torch.load(p, **{'weights_only': False})»", False),
        ("o = {'weights_only': False}\n«torch.load(p, **o)»", False),
        ("o = dict(weights_only=False)\n«torch.load(p, **o)»", False),
        ("o = {}\no['weights_only'] = False\n«torch.load(p, **o)»", False),
        ("o = {'weights_only': False}\no['map_location'] = 'cpu'\n«torch.load(p, **o)»", False),
        ("«torch.load(p)»", ...),
        ("def f(p, flag=False): return «torch.load(p, weights_only=flag)»", ...),
        ("if c: a = False\nelse: a = True\n«torch.load(p, weights_only=a)»", ...),
        ("a = not c\n«torch.load(p, weights_only=a)»", ...),
        ("«torch.load(p, **options)»", ...),
        ("def f(p, **o):\n    o['weights_only'] = False\n    return «torch.load(p, **o)»", ...),
        ("o = {'weights_only': False}\no.update(more)\n«torch.load(p, **o)»", ...),
        ("o = {'weights_only': False}\no[key] = True\n«torch.load(p, **o)»", ...),
        ("o = {'weights_only': False}\no['weights_only'] = c\n«torch.load(p, **o)»", ...),
        ("o = {'weights_only': False}\nchange(o)\n«torch.load(p, **o)»", ...),
        ("o = {**more}\n«torch.load(p, **o)»", ...),
        ("«torch.load(p, **one, **two)»", ...),
    ],
)
def test_follows_constants(snippet: str, constant: object) -> None:
    assert told(snippet) is constant


@pytest.mark.parametrize(
    ("uses", "shared"),
    [("«torch.load(p, **o)»", False), ("«torch.load(p, **o)»\ntorch.load(q, **o)", True)],
)
def test_tells_what_other_calls_are_told(uses: str, shared: bool) -> None:
    loads, call = loads_of("o = {'weights_only': False}\n" + uses)
    assert loads.told[call].shared is shared


@pytest.mark.parametrize(
    ("snippet", "is_fallback"),
    [
        ("try: torch.load(p, weights_only=True)\nexcept E: «torch.load(p, weights_only=False)»", True),
        ("try: torch.load(p)\nexcept E: «torch.load(p, weights_only=False)»", True),
        ("try:\n    a = 1\n    torch.load(p)\nexcept E:\n    if a: «torch.load(p, weights_only=False)»", True),
        ("try: torch.load(p, weights_only=False)\nexcept E: «torch.load(p, weights_only=False)»", False),
        ("try: torch.load(p, weights_only=flag)\nexcept E: «torch.load(p, weights_only=False)»", False),
        ("try: torch.load(p, **options)\nexcept E: «torch.load(p, weights_only=False)»", False),
        ("try: «torch.load(p, weights_only=False)»\nexcept E: torch.load(p)", False),
        ("try: read(p)\nexcept E: «torch.load(p, weights_only=False)»", False),
        ("try: torch.load(p)\nexcept E:\n    def f(): «torch.load(p, weights_only=False)»", False),
    ],
)
def test_knows_what_is_tried_where_weights_alone_failed(snippet: str, is_fallback: bool) -> None:
    loads, call = loads_of(snippet)
    assert loads.is_fallback(call) is is_fallback


LOAD = "torch.load(p, weights_only=False)"
SAVED = (
    "def keep(net, epochs, best):\n    for epoch in range(epochs):\n        torch.save({{'net': net.state_dict(), {}}}, out)\n"
)


@pytest.mark.parametrize(
    ("snippet", "reads"),
    [
        # a state that goes into a model as it is
        (f"net.load_state_dict(«{LOAD}»)", True),
        (f"state = «{LOAD}»\nnet.load_state_dict(state, strict=False)", True),
        (f"state = «{LOAD}»\nprint(len(state))\nnet.load_state_dict(state)", True),
        # or in one of two branches, where the other one takes an item of a checkpoint
        (f"state = «{LOAD}»\nif 'net' in state:\n    state = state['net']\nnet.load_state_dict(state)", False),
        (f"s = «{LOAD}»\nif 'net' in s:\n    net.load_state_dict(s['net'])\nelse:\n    net.load_state_dict(s)", False),
        (f"state = «{LOAD}»\nprint(state.get('epoch'))\nnet.load_state_dict(state)", False),
        # what the file saves itself
        (SAVED.format("'epoch': epoch, 'rate': 0.1, 'name': f'{out}'") + f"net.load_state_dict(«{LOAD}»['net'])", True),
        (SAVED.format("'epoch': epoch + 1") + f"state = «{LOAD}»\nnet.load_state_dict(state['net'])", True),
        (SAVED.format("'best': numpy.mean(best)") + f"net.load_state_dict(«{LOAD}»['net'])", False),
        (SAVED.format("'best': best") + f"net.load_state_dict(«{LOAD}»['net'])", False),
        (SAVED.format("'epoch': epoch") + f"net.load_state_dict(«{LOAD}»['other'])", False),
        # what others have made
        ("«torch.load(hf_hub_download(name), weights_only=False)»", True),
        ("p = 'pretrained/net.pt'\n«torch.load(p, weights_only=False)»", True),
        ("«torch.hub.load_state_dict_from_url(url, weights_only=False)»", True),
        # nothing is known of it
        (f"net.load_state_dict(«{LOAD}»['net'])", False),
        (f"state = «{LOAD}»\nargs = state['args']", False),
        (f"numbers = «{LOAD}»", False),
    ],
)
def test_knows_what_a_load_of_weights_alone_would_read(snippet: str, reads: bool) -> None:
    loads, call = loads_of(snippet)
    assert loads.is_of_weights(call) is reads

"""What is loaded from files and saved to them."""

from __future__ import annotations

import ast
import textwrap

import pytest

from marked import marked
from torchlint.semantics import Semantics
from torchlint.semantics.saving.files import SavedFiles


def files_of(snippet: str) -> tuple[SavedFiles, ast.Call]:
    """What is known of the files of a snippet, and its one marked call."""
    semantics, (node,) = marked("import torch\n" + textwrap.dedent(snippet))
    assert isinstance(node, ast.Call)
    return semantics.of(SavedFiles), node


# --- which calls load ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "snippet",
    [
        "«torch.load(p)»",
        "«torch.serialization.load(p)»",
        "import torch as t\n«t.load(p)»",
        "from torch import load as read\n«read(p)»",
        "load = torch.load\n«load(p)»",
        "«(torch).load(p)»",
    ],
)
def test_a_load_is_known_by_whatever_name(snippet: str) -> None:
    files, call = files_of(snippet)
    assert call in files.loads
    assert call not in files.saves


@pytest.mark.parametrize(
    "snippet",
    [
        "import numpy as np\n«np.load(p)»",
        "«torch.jit.load(p)»",
        "«torch.hub.load_state_dict_from_url(p)»",
        "«checkpoints.load(p)»",
        "«load(p)»",
        "def load(p): ...\n«load(p)»",
    ],
)
def test_others_load_as_well(snippet: str) -> None:
    files, call = files_of(snippet)
    assert call not in files.loads


def test_a_save_is_known_by_whatever_name() -> None:
    files, call = files_of("from torch import save as write\n«write(x, p)»")
    assert call in files.saves


# --- what becomes of what is loaded ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "snippet",
    [
        "net.load_state_dict(«torch.load(p)»)",
        "net.load_state_dict(state_dict=«torch.load(p)»['net'])",
        "state = «torch.load(p)»\nnet.load_state_dict(state['net'])",
        "own = net.state_dict()\nown.update(«torch.load(p)»)\nnet.load_state_dict(own)",
        "def read(p):\n    return «torch.load(p)»\nnet.load_state_dict(read(p))",
        "bert.from_pretrained('bert', state_dict=«torch.load(p)»)",
        "lr_net = torch.nn.Linear(1, 1)\nlr_net.load_state_dict(«torch.load(p)»)",
    ],
)
def test_weights_are_loaded_into_a_model(snippet: str) -> None:
    files, call = files_of(snippet)
    assert call in files.weights


@pytest.mark.parametrize(
    "snippet",
    [
        "words = «torch.load(p)»",
        "optimizer.load_state_dict(«torch.load(p)»)",
        "lr_net.load_state_dict(«torch.load(p)»)",
        "feeder.load_state_dict(«torch.load(p)»)",
        "train_dataset.load_state_dict(«torch.load(p)»)",
        "net.load_state_dict(other)\nprint(«torch.load(p)»)",
        "options = «torch.load(p)»\nbuild(options['n']).load_state_dict(state)",
    ],
)
def test_other_things_are_loaded_as_well(snippet: str) -> None:
    files, call = files_of(snippet)
    assert call not in files.weights


@pytest.mark.parametrize(
    ("snippet", "expected"),
    [
        ("net.load_state_dict(torch.load(p))", False),
        ("words = torch.load(p)", True),
        ("net.load_state_dict(torch.load(p))\nwords = torch.load(q)", True),
        ("words = numpy.load(p)", False),
    ],
)
def test_what_else_a_file_loads(snippet: str, expected: bool) -> None:
    assert Semantics(ast.parse("import torch\n" + snippet)).of(SavedFiles).loads_more_than_states is expected


@pytest.mark.parametrize(
    ("snippet", "expected"),
    [
        ("net = «torch.load(p)»\nnet.eval()", True),
        ("«torch.load(p)».eval()", True),
        ("class A:\n    def __init__(self):\n        self.net = «torch.load(p)»\n        self.net.eval()", True),
        ("state = «torch.load(p)»\nnet.load_state_dict(state)", False),
        ("«torch.load(p)»['net']", False),
        ("f(«torch.load(p)»)", False),
    ],
)
def test_whole_modules_that_are_loaded(snippet: str, expected: bool) -> None:
    files, call = files_of(snippet)
    assert files.gives_module(call) is expected


# --- how it is loaded ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("snippet", "expected"),
    [
        ("if gpu:\n    x = «torch.load(p)»\nelse:\n    x = torch.load(p, map_location='cpu')", True),
        ("if gpu:\n    x = torch.load(p, 'cpu')\nelse:\n    x = «torch.load(p)»", True),
        ("x = «torch.load(p)» if gpu else torch.load(p, map_location='cpu')", True),
        ("if gpu:\n    x = «torch.load(p)»\nelse:\n    x = torch.load(q)", False),
        ("x = «torch.load(p)»\nif gpu:\n    pass\nelse:\n    x = torch.load(p, map_location='cpu')", False),
    ],
)
def test_another_branch_says_where_to(snippet: str, expected: bool) -> None:
    files, call = files_of(snippet)
    assert files.has_mapped_alternative(call) is expected


@pytest.mark.parametrize(
    ("snippet", "expected"),
    [
        ("import io\nb = io.BytesIO()\ntorch.load(«b»)", True),
        ("import io\ndef f(x):\n    b = io.BytesIO(x)\n    torch.save(y, z)\n    torch.load(«b»)", True),
        ("import io\ndef f(x):\n    b = io.BytesIO(x)\n    torch.load(«b»)", False),
        ("torch.load(«p»)", False),
        ("b = open(p)\ntorch.load(«b»)", False),
        ("torch.load(«'p.pt'»)", False),
    ],
)
def test_buffers_in_memory(snippet: str, expected: bool) -> None:
    semantics, (file,) = marked("import torch\n" + snippet)
    assert semantics.of(SavedFiles).is_in_memory(file) is expected


@pytest.mark.parametrize(
    ("snippet", "is_weights"),
    [
        ("state = «torch.load(p)»\nload_pretrained_model(net, state['net'])", True),
        ("tools.load_weights(net, «torch.load(p)»)", True),
        ("load_weights(«torch.load(p)»)", False),
        ("load_data(net, «torch.load(p)»)", False),
        ("load_images(net, «torch.load(p)»['images'])", False),
    ],
)
def test_functions_of_the_program_load_into_models(snippet: str, is_weights: bool) -> None:
    files, call = files_of(snippet)
    assert (call in files.weights) is is_weights

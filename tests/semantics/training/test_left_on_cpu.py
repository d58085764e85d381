"""Which loads are for models that never leave the CPU, as far as the file shows."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.training.left_on_cpu import LeftOnCpu


def left_of(snippet: str) -> tuple[LeftOnCpu, ast.Call]:
    """What is known of the models that the code of a snippet makes, and its one marked load."""
    semantics, (node,) = marked("import os\nimport torch\n" + snippet)
    assert isinstance(node, ast.Call)
    return semantics.of(LeftOnCpu), node


SCRIPT = """
PATH, STATE = 'net.pt', 'optim.pt'
path = 'net.pt'
net = {net}
optimizer = torch.optim.Adam(net.parameters())
if resume:
    {loaded}
for x in data:
    net(x).backward()
    torch.save(net.state_dict(), path)
    torch.save(optimizer.state_dict(), 'optim.pt')
"""


@pytest.mark.parametrize(
    ("net", "loaded", "is_left"),
    [
        ("Net()", "net.load_state_dict(«torch.load(path)»)", True),
        ("nets.Net(3)", "net.load_state_dict(«torch.load('net.pt')»)", True),
        ("Net()", "optimizer.load_state_dict(«torch.load('optim.pt')»)", True),
        ("Net()", "path = args.path\n    net.load_state_dict(«torch.load(path)»)", False),
        ("Net()", "net.load_state_dict(«torch.load(other)»)", False),
        ("build(3)", "net.load_state_dict(«torch.load(path)»)", False),  # which may put it anywhere
        ("given", "net.load_state_dict(«torch.load(path)»)", False),
        ("given", "optimizer.load_state_dict(«torch.load('optim.pt')»)", False),
        ("Net().to(device)", "net.load_state_dict(«torch.load(path)»)", False),
    ],
)
def test_knows_scripts_that_never_leave_the_cpu(net: str, loaded: str, is_left: bool) -> None:
    left, load = left_of(SCRIPT.format(net=net, loaded=loaded))
    assert left.is_left_on_cpu(load) is is_left


TOY = """
def toy(net):
    {made}
    if os.path.exists("net.pth"):
        net.load_state_dict(«torch.load({path})»)
    {moved}
    torch.save(net.state_dict(), "net.pth")
"""


@pytest.mark.parametrize(
    ("made", "path", "moved", "is_left"),
    [
        ("net = Net()", "'net.pth'", "train(net)", True),
        ("net = Net()", "'other.pth'", "train(net)", False),
        ("net = Net()", "'net.pth'", "net.cuda()", False),
        ("net = Net()", "'net.pth'", "train(net, device)", False),
        ("pass", "'net.pth'", "train(net)", False),  # whoever gives it may have put it anywhere
    ],
)
def test_knows_models_that_never_leave_the_cpu(made: str, path: str, moved: str, is_left: bool) -> None:
    left, load = left_of(TOY.format(made=made, path=path, moved=moved))
    assert left.is_left_on_cpu(load) is is_left

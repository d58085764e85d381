"""Which functions and classes put something on a GPU whatever the flags of the program say."""

from __future__ import annotations

import ast

import pytest

from torchlint.semantics.gpus.needed import needs_gpu


def needs(text: str) -> bool:
    (node,) = ast.parse(text).body
    assert isinstance(node, (ast.ClassDef, ast.FunctionDef))
    return needs_gpu(node)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return net(x.cuda())", True),
        ("x = x.cuda(non_blocking=True)", True),
        ("net.encoder.to(1)", True),
        ("net.to('cuda:1')", True),
        ("net.to(torch.device('cuda'))", True),
        ("device = torch.device('cuda:0')\n    x = x.to(device)", True),
        ("x = torch.zeros(3, device='cuda')", True),
        ("x = torch.cuda.FloatTensor(3)", True),
        ("for x in loader:\n        y = x.cuda()", True),
        ("with torch.no_grad():\n        y = x.cuda()", True),
        ("if args.deep:\n        y = x\n    else:\n        y = x.cuda()", True),
        # elsewhere, or as a flag says
        ("x = x.to(device)", False),
        ("x = x.to(y.device)", False),
        ("x = x.cuda(args.gpu)", False),
        ("x = x.to(torch.float32)", False),
        ("x = x.to('cpu')", False),
        ("device = 'cuda' if args.cuda else 'cpu'\n    x = x.to(device)", False),
        ("if torch.cuda.is_available():\n        x = x.cuda()", False),
        ("x = x.cuda() if use_cuda else x", False),
        ("use_gpu and net.cuda()", False),
        ("if not args.cuda:\n        return net(x)\n    x = x.cuda()", False),
        ("for x in loader:\n        if no_cuda:\n            return x\n    x = x.cuda()", False),
        ("try:\n        x = x.cuda()\n    except RuntimeError:\n        pass", False),
        ("if args.gpu:\n        x = x.cuda()\n    y = y.cuda()", False),  # meant to run without one, too
        ("def move(x):\n        return x.cuda()", False),
        ("move = lambda x: x.cuda()", False),
        ("torch.cuda.empty_cache()", False),
    ],
)
def test_functions(body: str, expected: bool) -> None:
    assert needs(f"def run(net, x, loader, args, device, use_cuda, no_cuda):\n    {body}\n") is expected


@pytest.mark.parametrize(
    ("methods", "expected"),
    [
        ("def __init__(self):\n        self.cuda()", True),
        ("def forward(self, x):\n        return self.layer(x.cuda())", True),
        ("def forward(self, x):\n        return self.hidden(x)\n    def hidden(self, x):\n        return x.cuda()", True),
        ("def forward(self, x):\n        return self(x)", False),
        ("def sample(self, x):\n        return x.cuda()", False),
        ("def forward(self, x):\n        return x\n    def hidden(self, x):\n        return x.cuda()", False),
        (
            "def forward(self, x):\n        return x.cuda()\n    def loss(self):\n        return 1 if self.use_cuda else 2",
            False,
        ),
        ("layers = 3", False),
    ],
)
def test_classes(methods: str, expected: bool) -> None:
    assert needs(f"class Net(nn.Module):\n    {methods}\n") is expected

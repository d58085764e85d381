"""Which files move something to a GPU whatever their flags say, and so need one."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.semantics.saving.gpu.gpu_files import GpuFiles

LOADED = "def load(net, p):\n    net.load_state_dict(«torch.load(p)»)\n"


def needs_gpu(snippet: str) -> bool:
    semantics, _ = marked("import sys, torch\n" + LOADED + snippet)
    return semantics.of(GpuFiles).needs_gpu


@pytest.mark.parametrize(
    "snippet",
    [
        "def run(net, x):\n    return net(x.cuda())",
        "net.to('cuda')",
        "def run(net):\n    device = torch.device('cuda')\n    net.to(device)",
        "class Net(torch.nn.Module):\n    def forward(self, x):\n        return x + torch.ones(3, device='cuda')",
        "def run(net, cpu):\n    if not torch.cuda.is_available():\n        sys.exit()\n    net.cuda()",
        "def run(net, args, x):\n    if args.verbose:\n        print(x)\n    net.cuda(); x = x.to(args.device)",
    ],
)
def test_a_file_that_moves_to_the_gpu_in_any_case_needs_it(snippet: str) -> None:
    assert needs_gpu(snippet)


@pytest.mark.parametrize(
    "snippet",
    [
        "",
        "def run(net, x, device):\n    return net.to(device)(x.to(device))",
        "def run(net, use_cuda):\n    if use_cuda:\n        net.cuda()",
        "def run(net):\n    if torch.cuda.is_available():\n        net.cuda()",
        "def run(net):\n    net = net.cuda() if torch.cuda.is_available() else net",
        "def run(net):\n    device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')\n    net.to(device)",
        "class Net(torch.nn.Module):\n    def cuda(self):\n        self.x = self.x.cuda()\n        return super().cuda()",
        "def to_gpu(x):\n    return x.cuda()",
        # which GPU that is, each process is told
        "def run(net, rank):\n    torch.cuda.set_device(rank)\n    net.cuda()",
        "def run(net):\n    torch.distributed.init_process_group('nccl')\n    net.cuda()",
        "def run(net):\n    return net.cpu().to('cpu')",
    ],
)
def test_a_file_that_chooses_needs_none(snippet: str) -> None:
    assert not needs_gpu(snippet)

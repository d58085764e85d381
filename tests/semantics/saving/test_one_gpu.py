"""Which loads are of files that programs save which know one GPU alone."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.saving.gpu.one_gpu import OneGpu

SAVED = "    torch.save(net.state_dict(), out + '/best.pt')\n"
LOADED = "    net.load_state_dict(«torch.load(out + '/best.pt')»)\n"


def one_gpu_of(snippet: str) -> tuple[OneGpu, ast.Call]:
    """What is known of the program that a snippet is, and its one marked call."""
    semantics, (node,) = marked("import os\nimport torch\n" + snippet)
    assert isinstance(node, ast.Call)
    return semantics.of(OneGpu), node


@pytest.mark.parametrize(
    ("moves", "is_one"),
    [
        ("net.cuda(); x = x.cuda()", True),
        ("net.to('cuda'); x = x.to('cuda:0')", True),
        ("net.cuda(0); x = x.cuda(non_blocking=True)", True),
        ("device = torch.device('cuda'); net.to(device); x = x.to(device)", True),
        ("net.cuda(); x = x.cuda().float().to(torch.float16); y = net(x).cpu(); z = y.to('cpu')", True),
        ("net.cuda(); x = x.cuda(); torch.cuda.empty_cache(); torch.cuda.manual_seed(0)", True),
        ("os.environ['CUDA_VISIBLE_DEVICES'] = args.gpu_id; net.cuda(); x = x.cuda()", True),
        ("net.to(device=0); x = x.to(0)", True),
        ("net.to(device=1); x = x.to(1)", False),
        # another one than the first, written out everywhere: the program runs there and nowhere else
        ("net.to('cuda:1'); x = x.to('cuda:1')", True),
        ("device = torch.device('cuda:1'); net.to(device); x = x.to(device)", True),
        ("device = torch.device('cuda:1' if args.x else 'cpu'); net.to(device); x = x.to(device)", False),
        ("net.cuda(); x = x.cuda(); net = torch.nn.DataParallel(net, device_ids=[0, 1])", True),
        ("net.cuda(); x = x.cuda(); net = torch.nn.DataParallel(net, device_ids=list(range(args.n)))", True),
        ("ids = list(range(args.n)); net.cuda(); net = torch.nn.DataParallel(net, device_ids=ids)", True),
        ("ids = [i for i in range(4)]; net.cuda(); net = torch.nn.DataParallel(net, device_ids=ids)", True),
        ("net.cuda(); x = x.cuda(); net = torch.nn.DataParallel(net, list(range(0, args.n)))", True),
        ("net.cuda(); x = x.cuda(); net = torch.nn.DataParallel(net, device_ids=[0, 2])", True),
        ("net.cuda(); x = x.cuda(); net = torch.nn.DataParallel(net)", True),  # its weights stay on the first one
        ("net.cuda(); x = x.cuda(); print('GPU:', torch.cuda.is_available())", True),
        ("if torch.cuda.is_available(): torch.cuda.manual_seed_all(0)\n    net.cuda(); x = x.cuda()", True),
        ("device = torch.device(f'cuda:0'); net.to(device); x = x.to(device)", True),
        ("from torch.nn.parallel import DistributedDataParallel; net.cuda(); x = x.cuda()", True),  # used nowhere
        ("net.cuda(); x = x.cuda(); is_dataparallel = 'module.' in x; net = net.module if is_dataparallel else net", True),
        ("net.cuda()", True),  # one thing that goes there in any case is enough
        ("net.cuda(); x = x.to(next(net.parameters()).device)", True),
        ("net.cuda(); x = x.to(device)", True),  # a name that the file knows nothing of
        # the GPU is asked for, or the CPU named, but something goes to the GPU in any case
        ("if torch.cuda.is_available(): pass\n    else: args.x = 1\n    net.cuda(); x = x.cuda()", True),
        ("found = torch.cuda.is_available(); net.cuda(); x = x.cuda()", True),
        ("device = torch.device('cuda' if args.x else 'cpu'); net.to(device); x = x.cuda()", True),
        ("device = torch.device('cuda' if args.x else 'cpu'); net.to(device); x = x.to(device)", False),
        ("device = torch.device('cuda:1' if args.x else 'cpu'); net.to(device); x = x.cuda()", False),
        ("if args['use_gpu']: net.cuda(); x = x.cuda()", False),
        ("net.cuda(); torch.load(out, map_location=lambda storage, place: storage.cuda(0))", True),
        ("net.cuda(); torch.load(out, map_location='cpu')", False),
        # nothing is known to go there
        ("pass", False),
        # another device, or a choice
        ("net.to('cuda:1'); x = x.to('cuda:2')", False),
        ("net.to('cuda:1'); x = x.to('cuda')", False),
        ("net.cuda(1); x = x.cuda(1)", False),
        ("net.cuda(args.gpu); x = x.cuda(args.gpu)", False),
        ("net.cuda(); x = x.to(args.where)", False),
        ("from torch.nn.parallel import DistributedDataParallel as DDP; net.cuda(); x = x.cuda(); net = DDP(net)", False),
        ("device = torch.device(f'cuda:{args.gpu}'); net.to(device); x = x.to(device)", False),
        ("if torch.cuda.is_available(): torch.cuda.set_device(args.x)\n    net.cuda(); x = x.cuda()", False),
        ("net.cuda(); x = x.to(args.device)", False),
        ("net.cuda(); device = args.device; x = x.to(device)", False),
        (
            "device = torch.device('cuda')\n    if args.x: device = torch.device('cpu')\n    net.to(device); x = x.to(device)",
            False,
        ),
        ("if torch.cuda.is_available(): net.cuda(); x = x.cuda()", False),
        ("if args.cuda: net.cuda(); x = x.cuda()", False),
        ("if use_cuda: net.cuda(); x = x.cuda()", False),
        # without a GPU the function ends, or is left with another result
        ("if use_cuda: net.cuda(); x = x.cuda()\n    else:\n        print('no GPU'); return", True),
        ("if use_cuda: net.cuda(); x = x.cuda()\n    else: raise ValueError", True),
        ("if use_cuda: net.cuda(); x = x.cuda()\n    else: return x", False),
        ("if use_cuda: return\n    else: net.cuda(); x = x.cuda()", False),
        ("if use_cuda: net.cuda(); x = x.cuda()\n    elif x: return", False),
        ("if use_cuda:\n        if args.gpu: net.cuda()\n        x = x + 1\n    else: return", False),
        ("net.cuda(); x = x.cuda(); net = torch.nn.DataParallel(net, device_ids=[1, 0])", False),
        ("net.cuda(); x = x.cuda(); net = torch.nn.DataParallel(net, ids)", False),
        ("net.cuda(); x = x.cuda(); net = torch.nn.DataParallel(net, list(range(1, args.n)))", False),
        ("ids = [0, 1]; ids = [1, 0]; net.cuda(); net = torch.nn.DataParallel(net, device_ids=ids)", False),
        ("ids = args.ids; net.cuda(); net = torch.nn.DataParallel(net, device_ids=ids)", False),
        ("ids = [0]\n    if many: ids = args.ids\n    net.cuda(); net = torch.nn.DataParallel(net, device_ids=ids)", False),
        ("ids = [False, 1]; net.cuda(); net = torch.nn.DataParallel(net, device_ids=ids)", False),
        ("ids = [i + 1 for i in range(4)]; net.cuda(); net = torch.nn.DataParallel(net, device_ids=ids)", False),
        ("ids = [i for i in range(4) if i]; net.cuda(); net = torch.nn.DataParallel(net, device_ids=ids)", False),
        ("net.cuda(); x = x.cuda(); wrap = torch.nn.DataParallel", False),
        ("net.cuda(); x = x.cuda(); net = torch.nn.parallel.DistributedDataParallel(net)", False),
        ("torch.cuda.set_device(args.local_rank); net.cuda(); x = x.cuda()", False),
        ("net.cuda(); x = x.cuda(); z = torch.zeros(3, device=where)", False),
        ("net.cuda(); x = x.cuda(); z = x.new_zeros(3).to(args.device)", False),
        ("net.cuda(); x = x.cuda(); z = torch.zeros(3, device=args.device)", False),
        ("net.cuda(); x = x.cuda(); z = torch.zeros(3).to(config.device)", False),
        ("net.cuda(); x = x.cuda(); z = torch.zeros(3).to(runner.device)", False),
        ("net.cuda(); x = x.cuda(); z = torch.zeros(3).to(args['run'].device)", False),
        # where a tensor is, that of the GPU
        ("net.cuda(); x = x.cuda(); z = x.new_zeros(3).to(x.device)", True),
        ("net.cuda(); x = x.cuda(); y = torch.clamp(x, 0, 1); z = torch.zeros(3, device=y.device)", True),
        ("net.cuda(); x = x.cuda(); d = y.device; z = torch.zeros(3).to(d)", True),
        ("net.cuda(); x = x.cuda(); d = x.get_device(); z = torch.zeros(3).to(d)", True),
        ("net.cuda(); x = x.cuda(); d = x.get_device() if x.is_cuda else 'cpu'; z = torch.zeros(3).to(d)", True),
        ("net.cuda(); x = x.cuda(); d = args.device if args.x else 'cpu'; z = torch.zeros(3).to(d)", False),
        ("net.cuda(); x = x.cuda(); d = y.device\n    if args.x: d = args.x\n    z = torch.zeros(3).to(d)", False),
        ("net.cuda(); x = x.cuda(); d = y.device if args.x else args.d; z = torch.zeros(3).to(d)", False),
        # where something else is that nothing is known of, but no options
        ("net.cuda(); x = x.cuda(); z = torch.zeros(3).to(anchors.device)", True),
        ("net.cuda(); x = x.cuda(); z = torch.zeros(3, device=next(net.parameters()).device)", True),
    ],
)
def test_knows_programs_that_run_on_one_gpu(moves: str, is_one: bool) -> None:
    program, load = one_gpu_of(f"def f(net, x, out, args):\n    {moves}\n{SAVED}{LOADED}")
    assert program.is_of_one_gpu(load) is is_one


TRAINER = """
class Trainer:
    def __init__(self, net, config):
        self.net, self.use_cuda, self.n_gpu = net, config.cuda, config.n_gpu
        if self.use_cuda:
            self.net.cuda()

    def load(self, path):
        self.net.load_state_dict(«torch.load(path)»)

    def train(self, loader):
        for x in loader:
            {move}
            self.net(x).sum().backward()

def other(x):
    return x.cuda()
"""


@pytest.mark.parametrize(
    ("move", "needs"),
    [
        ("x = x.cuda()", True),
        ("target = torch.ones(3).to('cuda')", True),
        ("if len(x) > 3: x = x.cuda()", True),
        ("assert torch.cuda.is_available(); x = x.cuda()", True),
        ("if not torch.cuda.is_available(): raise SystemExit\n            x = x.cuda()", True),
        ("if not torch.cuda.is_available():\n                print('no GPU'); exit()\n            x = x.cuda()", True),
        ("x = x.cuda(); self.net = torch.nn.DataParallel(self.net, device_ids=range(self.n_gpu))", True),
        ("if not torch.cuda.is_available(): print('slow')\n            x = x.cuda()", True),
        ("device = 'cuda' if self.use_cuda else 'cpu'; x = x.cuda()", True),
        # the CPU is meant as well
        ("pass", False),
        ("if self.use_cuda: x = x.cuda()", False),
        ("x = x.cuda() if self.use_cuda else x", False),
        ("if torch.cuda.is_available(): x = x.cuda()", False),
        ("if not torch.cuda.is_available(): continue\n            x = x.cuda()", False),
        # another GPU, or several
        ("x = x.cuda(); y = x.cuda(1)", False),
        ("x = x.cuda(); y = x.to('cuda:1')", False),
        ("x = x.cuda(); y = x.to(f'cuda:{self.gpu}')", False),
        ("torch.cuda.set_device(self.gpu); x = x.cuda()", False),
        ("x = x.cuda(); self.net = torch.nn.DataParallel(self.net, device_ids=self.gpu_ids)", False),
        ("x = x.cuda(); torch.distributed.init_process_group('nccl')", False),
    ],
)
def test_knows_programs_that_need_the_gpu_whatever_their_flags_say(move: str, needs: bool) -> None:
    program, load = one_gpu_of(TRAINER.format(move=move))
    assert program.is_of_one_gpu(load) is needs


MODEL = """
class Model(torch.nn.Module):
    def forward(self, x):
        {move}
        return self.layer(x)

def run(use_gpu, path):
    device = torch.device("cuda:0" if use_gpu and torch.cuda.is_available() else "cpu")
    model = {made}.to(device)
    model.load_state_dict(«torch.load(path)»)
"""


@pytest.mark.parametrize(
    ("move", "made", "needs"),
    [
        ("x = x.cuda()", "Model()", True),
        ("x = x.cuda()", "Other()", False),
        ("if x.dim() == 3 and use_cuda: x = x.cuda()", "Model()", False),
        ("pass", "Model()", False),
    ],
)
def test_a_model_needs_the_gpu_that_moves_what_it_is_given(move: str, made: str, needs: bool) -> None:
    program, load = one_gpu_of(MODEL.format(move=move, made=made))
    assert program.is_of_one_gpu(load) is needs


def test_a_load_in_front_of_where_a_function_ends_without_a_gpu() -> None:
    ends = "    if use_cuda: net.cuda(); x = x.cuda()\n    else: return\n"
    program, load = one_gpu_of(f"def f(net, x, out, use_cuda):\n{LOADED}{ends}{SAVED}")
    assert not program.is_of_one_gpu(load)
    program, load = one_gpu_of(f"def g(net, out):\n{LOADED}def f(net, x, out, use_cuda):\n{ends}{SAVED}")
    assert not program.is_of_one_gpu(load)


AGENT = """
class Agent:
    def __init__(self, net, config):
        self.net = net
        {called}

    def to_gpu(self):
        self.net.cuda()

    def load(self, path):
        self.net.load_state_dict(«torch.load(path)»)
"""


@pytest.mark.parametrize(
    ("called", "needs"),
    [
        ("if config.use_cuda: self.to_gpu()", False),
        ("if config.use_cuda: self.to_gpu()\n        elif config.device == 'gpu': self.to_gpu()", False),
        ("self.to_gpu()", True),
        ("if config.use_cuda: self.to_gpu()\n        self.to_gpu()", True),
        ("if config.deep: self.to_gpu()", True),
        ("if not torch.cuda.is_available(): raise SystemExit\n        self.to_gpu()", True),
    ],
)
def test_a_method_moves_what_it_is_called_for(called: str, needs: bool) -> None:
    program, load = one_gpu_of(AGENT.format(called=called))
    assert program.is_of_one_gpu(load) is needs


GPU = "def f(net, x, out, args):\n    net.cuda(); x = x.cuda()\n"


@pytest.mark.parametrize(
    ("choice", "is_one"),
    [
        ("if args.gpu == 0: os.environ['CUDA_VISIBLE_DEVICES'] = '0'\nelif args.gpu == 1: os.environ['X'] = '1'", True),
        ("os.environ['CUDA_VISIBLE_DEVICES'] = str(args.gpu)", True),
        ("if args.gpu == 0: device = 'cuda:1'", False),
        ("if args.gpu == 0: os.environ['X'] = '0'\nelse: torch.cuda.set_device(args.gpu)", False),
    ],
)
def test_knows_what_only_the_environment_is_told(choice: str, is_one: bool) -> None:
    program, _ = one_gpu_of(f"{choice}\ndef f(net, x, out, args):\n    net.cuda(); x = x.cuda()\n{SAVED}{LOADED}")
    assert program.knows_one_gpu is is_one


@pytest.mark.parametrize(
    ("saved", "loaded", "is_own"),
    [
        ("out + '/best.pt'", "out + '/best.pt'", True),
        ("os.path.join(args.out, 'best.pt')", "f'{out}/best.pt'", True),
        ("'runs/best_%d.pt' % x", "f'runs/best_{args.epoch}.pt'", True),
        ("out + '/best.pt'", "out + '/last.pt'", True),
        ("out + '/best.pt'", "args.path", True),
        ("f'{out}.pt'", "f'{out}.pt'", True),
        # made elsewhere, or in another run: what is on the one GPU there is so here
        ("out + '/best.pt'", "args.pretrained + '/best.pt'", True),
        ("'pretrained/best.pt'", "'pretrained/best.pt'", True),
    ],
)
def test_knows_files_of_one_gpu(saved: str, loaded: str, is_own: bool) -> None:
    program, load = one_gpu_of(f"{GPU}    torch.save(x, {saved})\n    y = «torch.load({loaded})»\n")
    assert program.is_of_one_gpu(load) is is_own


@pytest.mark.parametrize("path", ["self.best", "self.pretrained", "'imagenet.pt'"])
def test_files_that_other_programs_save_are_no_matter_where_the_gpu_is_needed_anyway(path: str) -> None:
    program, load = one_gpu_of(TRAINER.format(move="x = x.cuda()").replace("torch.load(path)", f"torch.load({path})"))
    assert program.is_of_one_gpu(load)


HELPER = """
def load(path):
    net = Net()
    net.load_state_dict(«torch.load(path)»)
    return net

def main(x):
    net = {given}
    net.cuda()
"""


@pytest.mark.parametrize(("given", "needs"), [("load('a.pt')", True), ("Net()", False)])
def test_a_function_needs_the_gpu_where_its_caller_does(given: str, needs: bool) -> None:
    program, load = one_gpu_of(HELPER.format(given=given))
    assert program.is_of_one_gpu(load) is needs


@pytest.mark.parametrize(
    ("settings", "is_one"),
    [
        ("class Config:\n    device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')\nconfig = Config()\n", True),
        ("class config:\n    device = 'cuda'\n", True),
        ("class config:\n    device = 'cuda:1'\n", False),
        ("class Config:\n    device = torch.device(chosen)\nconfig = Config()\n", False),
        ("from settings import config\n", False),
    ],
)
def test_settings_may_be_a_class_of_the_file(settings: str, is_one: bool) -> None:
    moves = "net.to(config.device)\n    x = x.cuda()"
    program, load = one_gpu_of(f"{settings}def f(net, x, out):\n    {moves}\n{SAVED}{LOADED}")
    assert program.is_of_one_gpu(load) is is_one

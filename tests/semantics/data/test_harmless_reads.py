"""Which reads of ``.data`` nobody would change."""

from __future__ import annotations

import ast
import textwrap

import pytest

from marked import marked
from torchlint.semantics.data.harmless import HarmlessReads

NORMED = """\
class Distance(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = %s

    def forward(self, x):
        return x / torch.norm(«self.fc.weight.data», dim=1)
"""
_TRIED = """
class Half(nn.Module):
    def forward(self, x):
        return x / 2

if __name__ == "__main__":
    sums = [row.sum() for row in «Half()(torch.ones(3, 2)).data»]
    print(sums)
"""
_START = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"


def is_harmless(snippet: str) -> bool:
    semantics, (node,) = marked(_START + textwrap.dedent(snippet))
    assert isinstance(node, ast.Attribute)
    return semantics.of(HarmlessReads).is_harmless(node)


@pytest.mark.parametrize(
    "snippet",
    [
        "«x.data».size(0)",
        _TRIED,
        "if torch.sigmoid(«net(x).data») > limit:\n    stop()",
        "print(«net(x).data».view(1, -1))",
        "print(f'{«net(x).data».squeeze()}')",
        "w = «layer.weight.data».clone()",
        "_, at = p.max(dim=-1)\nkept.append(«at.data».unsqueeze(1))",
        "for i in steps:\n    best = torch.gather(history[i], 1, best)\n    tags[i] = «best.data».view(n)",
        "for t, s in zip(a.parameters(), b.parameters()):\n    new = 0.1 * «s.data» + 0.9 * t.data\n    t.data.copy_(new)",
        "a = «x.cpu().data»[0].detach().numpy()",
        "kept.append(«p.data».detach().clone())",
        "n = «x.data».cpu().detach().item()",
        "n = «x.data».view(4, -1).size(1)",
        NORMED % "nn.utils.weight_norm(nn.Linear(3, 3))",
        "sd = net.state_dict()\nfor k in sd:\n    kept[k] = «sd[k].data»",
        "if greedy:\n    _, at = p.max(1)\nelse:\n    at = p.multinomial(1)\nkept.append(«at.data»)",
        "from torch.distributions import Categorical\nd = Categorical(p)\nat = d.sample()\nkept.append(«at.data»)",
        "kept.append(«p.max(1)[1].data».squeeze())",
        "def f(policy, x):\n    dist = policy(x)\n    kept.append(«dist.sample().cpu().data»)",
        "n = «m.weight.data»[0][0].numel()",
        "def init(module, fill): fill(«module.weight_ih_l0.data»)",
        "def validation_step(net, x):\n    _, at = torch.max(«net(x).data», 1)\n    return at",
        "isinstance(«x.data», torch.cuda.FloatTensor)",
        "type(«x.data»)",
        "weight = next(m.parameters()).data\nweight = «x.data»\nreturned = weight.new(3), weight.device",
        "«x.data».eq(0).unsqueeze(1)",
        "«x.data» == 0",
        "y.data.cpu() == («x.data».cpu() > 0.5)",
        "mask[(«x.data» - 1) * (x - 2) == 0] = 1",
        "torch.allclose(«x.data», y)",
        "mask[torch.abs(«x.data») < 0.5] = 0",
        "loss = x.sum()\nloss.backward()\nkept = «loss.data».clone()\nprint(kept[0])",
        "kept.append(«p.data».clone().detach())",
        "def test(net):\n    assert torch.max(«net.fc.weight.data») <= 1",
        "y.type(«x.data».storage().type())",
        "y.type(«x.data».type())",
        "print(«x.data»)",
        "print('x', «x.data».mean())",
        "f'{«x.data».mean():.3f}'",
        "'{:.3f} {:.3f}'.format(3, «x.data»[0])",
        "'{x:.3f}'.format(x=«x.data»[0])",
        "'%f' % «x.data».cpu().numpy()[0]",
        "'%f %f' % (3, «x.data»[0, 1])",
        "float(«x.data»[0])",
        "if «x.data».max() > limit: pass",
        "y = («p.data» ** 2).sum().item()",
        "total = to_item(«loss.data»)",
        "writer.add_histogram(name, «p.data», epoch)",
        "writer.add_image('x', «x.data».cpu(), 3)",
        "def f(w, u, v):\n    for _ in range(3):\n        v.data = norm(w, u.data)\n        u.data = norm(w, «v.data»)",
        "nn.Parameter(«x.data»)",
        "def f(m, w):\n    m.register_parameter('w_orig', w)\n    m.register_buffer('w', «w.data»)",
        "def f(m, w):\n    m.register_parameter('w_orig', w)\n    setattr(m, 'w', «w.data»)",
        "n = 0\nfor p in ps: n += «p.data».abs().sum()\nprint('%.3f' % n)",
        "n = 0\nfor p in ps: n += «p.data».norm()\nprint('%.3f of %d' % (n / len(ps), 3), f'{n * 2}')",
        "y = «net(Variable(x, volatile=True)).data».max(1)",
        "m.weight.data = «m.weight.data».half()",
        "int(«x.data».sum() / len(x))",
        "count = (1 - «x.data».mean()).item()",
        "(-«x.data»).sum().item()",
        "torch.cat((«x.data», y.data), dim=0).mean().item()",
        "float(torch.sqrt(torch.sum(«x.data» ** 2)))",
        "words[«token.data»[0]]",
        "scores[«rows.data»]",
        "scores[0, «columns.data»]",
        "scores[«columns.data».view(-1, 1)]",
        "y.scatter_(1, «x.data», 1.0)",
        "y.scatter_(1, «x.data».view(-1, 1).cpu(), 1.0)",
        "torch.gather(y, 1, «x.data»)",
        "y.index_select(dim=1, index=«x.data»)",
        "a.data.copy_(«b.data»)",
        "a.data = «b.data»",
        "def f(a, b):\n    for p, q in zip(a, b):\n        p.data = mean(«p.data», q.data)",
        "g.data = «x.data».half()",
        "a.data, b.data = torch.clamp(input=«a.data», min=0), 3",
        "kept = «p.data».detach()\np.data = kept * mask",
        "n = «x.data».max(1)[1].size()",
        "log_memory(3, [«x.data», y.data])",
        "net.report_gpu_mem(«x.data»)",
        "a.data.copy_(«b.data» * 2)",
        "sums.data.mul_(2).add_(«b.data»)",
        "text = ' '.join(words[each] for each in «p.squeeze().data»)",
        "for each in «p.data»:\n    kept.append(words[each])",
        "for w in nn.Linear(3, 3).parameters(): torch.distributed.broadcast(«w.data», src=0)",
        "class Own(torch.autograd.Function):\n    @staticmethod\n    def forward(c, x): return save(«x.data»)",
        "class Own(torch.autograd.Function):\n    @staticmethod\n    def backward(c, g): return g * «c.kept.data»",
        "class Own(torch.autograd.Function):\n    def backward(self, g): return g * «self.saved_tensors[0].data»",
        "self.assertTensorClose(«x.data», y.data)",
        "self.assertEqual(«x.data».tolist(), y)",
        "assert_close(«x.data», y)",
        "«x.data».record_stream(stream)",
        "with torch.no_grad(): y = «x.data»",
        "def init(module, fill): fill(«module.weight.data»)",
        "@torch.no_grad()\ndef f(x): return «x.data»",
        "def f(x): return «x.data»\n@torch.no_grad()\ndef g(x): return f(x)",
    ],
)
def test_nothing_with_a_graph_comes_of_it(snippet: str) -> None:
    assert is_harmless(snippet)


@pytest.mark.parametrize(
    "snippet",
    [
        "kept.append(«x.data»)",
        "for w in nn.Linear(3, 3).parameters(): torch.distributed.barrier(«w.data»)",
        "y = x.sigmoid()\ntorch.distributed.broadcast(«y.data», src=0)",
        "kept.append(«x.data»[0].detach())",
        "kept.append(«x.data».clone())",
        "kept.append(torch.abs(«x.data»))",
        "loss = x.sum()\nloss.backward()\nkept = «loss.data».clone()\nlog(kept, kept[0])",
        "loss = x.sum(1)\nloss.mean().backward()\nkept = «loss.data»\nprint(kept[0])",
        "kept.append(«x.data».clone().cpu())",
        "mask[own.abs(«x.data») < 0.5] = 0",
        "n = «x.data».view(4, -1)",
        NORMED % "nn.Linear(3, 3)",
        "y = «x.data»",
        "weight = «x.data»\nother = weight.new(3), weight * 2",
        "torch.max(«x.data», 1)",
        "top, at = p.max(dim=-1)\nkept.append(«top.data»)",
        "if greedy:\n    _, at = p.max(1)\nelse:\n    at = p * 2\nkept.append(«at.data»)",
        "dist = nn.Linear(3, 3)\nz = dist.sample()\nkept.append(«z.data»)",
        "kept.append(«p.max(1)[0].data»)",
        "kept.append(«torch.max(p, nn.Linear(3, 3)(y))[1].data»)",
        "kept.append(«dist.rsample().data»)",
        "save_image(«net(x).data»[:25], 'a.png', nrow=5)",
        "from torchvision.utils import save_image\ny = «net(x).cpu().data»\nsave_image(y[:9], 'a.png')\nsave_image(y, 'b.png')",
        "import torchvision\ngrid = torchvision.utils.make_grid(«net(x).data»)",
        "from torchvision.utils import save_image\nsave_image(«net(x).data»[:25], 'a.png', nrow=5)",
        "kept.append(«x.data»[0][0])",
        "def step(module, fill): fill(«module.weight_ih_l0.data»)",
        "z = encoder.sample()\nkept.append(«z.data»)",
        "def validation_loop(net, x):\n    _, at = torch.max(«net(x).data», 1)\n    return at",
        "y = «x.data» - 1",
        "«x.data».max(1)[1] == y",
        "y.copy_(«x.data».storage())",
        "y.scatter_(1, z, «x.data»)",
        "y.scatter_(1, «x.data».long(), 1.0)",
        "torch.gather(y, «x.data», z)",
        "sums.add_(«x.data»)",
        "c.copy_(«x.data» * 2)",
        "kept.append(c.data.add(«x.data»))",
        "class Own(torch.autograd.Function):\n    @staticmethod\n    def backward(c, g): return g * «c.kept.data»\n\n"
        "torch.autograd.grad(y, x, create_graph=True)",
        "class Scaled(nn.Module):\n    def forward(self, x):\n        return save(«x.data»)",
        "«x.data».max(1)[1]",
        "torch.cat([«x.data», y])",
        "show(«x.data».mean())",
        "def f(w, u, v):\n    for _ in range(3):\n        v.data = norm(w, u.data)\n        save(«w.data»)",
        "def f(w, u):\n    u.data = norm(w, w)\n    save(«u.data»)",
        "«x.data».max(1) == y",
        "y = («p.data» ** 2).sum()",
        "writer.format(«x.data»)",
        "y = «x.data».mean()",
        "def f(m, w):\n    m.register_buffer('w', «w.data»)",
        "def f(m, w):\n    setattr(m, 'w', «w.data»)",
        "def f(m, w, v):\n    m.register_parameter('v_orig', v)\n    m.register_buffer('w', «w.data»)",
        "n = 0\nfor p in ps: n += «p.data».norm()\nreturned = n",
        "n = 0\nfor p in ps: n += «p.data».norm()\nprint(n)\nscale(n)",
        "n = 0\nfor p in ps: n += «p.data»\nprint(n)",
        "n = 0\nfor p in ps: n += «p.data».norm()",
        "n = 0\nfor p in ps: n += 3 * «p.data»\nprint(float(n))",
        "n = 0\nfor p in ps: n += «p.data».sum(0)\nprint(n)",
        "y = «net(Variable(x, volatile=False)).data».max(1)",
        "y = «net(Variable(x)).data».max(1)",
        "isinstance(y, «x.data»)",
        "total = «x.data».sum() / len(x)",
        "both = torch.cat((«x.data», y.data), dim=0)",
        "keep(torch.sqrt(«x.data»).mean(0))",
        "first = «x.data»[0]",
        "pages[0] = «x.data»",
        "self.asserted(«x.data»)",
        "keep(where(«x.data»).item())",
        "def f(x): return «x.data»",
        "def build(x): return «x.data»",
        "def step(module, fill): fill(«module.weight.data»)",
        "def f(x): return «x.data»\nf(3)\nwith torch.no_grad(): f(4)",
        _TRIED.replace("__name__", "name"),
        _TRIED + "    torch.save(sums, 'sums.pt')\n",
        _TRIED + "    optimizer.step()\n",
    ],
)
def test_something_may_come_of_it(snippet: str) -> None:
    assert not is_harmless(snippet)


@pytest.mark.parametrize(
    ("snippet", "has_none"),
    [
        ("«p.argmax(1).data».numpy()", True),
        ("class A(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x): return f(«x.data».numpy())", True),
        ("class A(torch.autograd.Function):\n    @staticmethod\n    def backward(ctx, x): return f(«x.data».numpy())", True),
        (
            "class A(torch.autograd.Function):\n    @staticmethod\n    def backward(ctx, x): return f(«x.data».numpy())\n\n"
            "torch.autograd.grad(y, x, create_graph=True)",
            False,
        ),
        ("class A(nn.Module):\n    def forward(self, x): return f(«x.data».numpy())", False),
        ("def validation_step(net, x):\n    y = net(x)\n    return «y.data».numpy()", True),
        ("def test_step(net, x): return «net(x).data».numpy()", True),
        ("def training_step(net, x): return «net(x).data».numpy()", False),
        ("def validation_step(net, x): return «x.data».numpy()", False),
        ("def validation_step(net, x): return «net.weight.data».numpy()", False),
        ("def validation_step(net, x):\n    for p in net.parameters(): show(«p.data».numpy())", False),
        ("def validation_step(net, x):\n    y = net(x)\n    if x: y = net.weight\n    return «y.data».numpy()", False),
    ],
)
def test_what_is_read_has_no_graph(snippet: str, has_none: bool) -> None:
    semantics, (node,) = marked(_START + textwrap.dedent(snippet))
    assert isinstance(node, ast.Attribute)
    assert semantics.of(HarmlessReads).has_no_graph(node) is has_none

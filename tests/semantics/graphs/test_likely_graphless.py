"""Which tensors have no graph to leave, as a reader would say."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.semantics.graphs.likely.graphless import LikelyGraphless

HEADER = """\
import torch
import torch.nn as nn
import torch.nn.functional as F
import numpy as np
from torch.autograd import Variable

net = nn.Linear(3, 3)
"""


def seems_graphless(text: str) -> bool:
    semantics, [node] = marked(HEADER + text)
    return semantics.of(LikelyGraphless).is_graphless(node)


@pytest.mark.parametrize(
    "text",
    [
        "«torch.from_numpy(array)»",
        "«torch.randn(3)»",
        "«net(x).argmax(1)»",
        "«net(x) > 0»",
        "«net(x).long()»",
        "_, places = net(x).max(1)\n«places»",
        "«Variable(torch.ones(2))»",
        "def f(make, z):\n    fake = Variable(make(z).data)\n    return «fake»",
        "def f(make, z):\n    return «Variable(make(z).detach())»",
        "class N(nn.Module):\n    def set(self, x):\n        self.held.resize_(3)\n    def get(self): return «self.held»",
        "class N(nn.Module):\n    def get(self):\n        return show(«self.input_A»)",
        "«net.weight.grad»",
        "seq = «model(x)[0]».data\nsents = decode_sequence(vocab, seq)",
        "seq = «model(x)[0]».data.cpu().numpy()\nprint(seq)\nwords = table[seq]",
        "class N(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.register_buffer('m', zeros())\n"
        "    def forward(self, x):\n        return «self.m.cpu()»",
        "for x in loader:\n    with torch.no_grad():\n        y = net(x)\n    «y»",
        "def f(loader):\n    image, _ = loader.next()\n    image = to_var(image.type(kind))\n    return «image[0]»",
        "def f(loader):\n    batch = iter(loader).__next__()\n    return «batch[0]»",
        "def f(loader):\n    x, y = loader.__iter__().next()\n    x = x.to(device)\n    return «x»",
        "a = []\nfor x in xs:\n    with torch.no_grad():\n        y = net(x)\n        a.append(y['out'])\n"
        "z = torch.stack(a)\n«z.cpu()»",
        "outs = []\nfor x in pairs:\n    outs.extend(net(x).max(1)[1])\nouts = torch.stack(outs)\n«outs»",
        "def f(one_batch):\n    src, _, n = one_batch\n    return «src»",
        "for i, (batch, example) in enumerate(zip(loader, examples)):\n    src = batch.src\n    «src»",
        "for i, batch in enumerate(loader):\n    a, b = batch\n    for one, guess in zip(a, guesses):\n        «one»",
        "def f(input):\n    return [«item.cpu()» for item in input]",
        "def f(labels):\n    return «labels»",
        "def f(batch):\n    return «batch.target»",
        "for batch in train_loader:\n    x = batch.src.select(1, 0).unsqueeze(1)\n    «x»",
        "for x in loader:\n    with torch.no_grad():\n        y, _ = model(x)\n    y = y.view(-1, 2)\n    «y»",
        "def f(model, xs):\n    kept = []\n    for x in xs:\n        with torch.no_grad():\n            o = model(x)\n"
        "        kept += [o.cpu()]\n    return «torch.stack(kept, 1).view(-1, 3)»",
        "kept = []\nfor x in xs:\n    kept += [model(x).data.cpu()]\n«torch.stack(kept, 1)»",
        "def forward(self, x, im_info):\n    return «im_info»",
        "def f(batch):\n    return «batch['labels']»",
        "def f(y_true, i):\n    return «y_true[i].cpu()»",
        "def f(x, y):\n    F.cross_entropy(net(x), y).backward()\n    return «y»",
        "criterion = nn.NLLLoss()\ndef f(x, y):\n    criterion(net(x), y).backward()\n    return «y»",
        "@torch.no_grad()\ndef f(x):\n    return «x»",
        "def f(x, model):\n    with torch.no_grad():\n        y = model(x)\n        return «y»",
        "def f(model, x):\n    with torch.no_grad():\n        return «model(x)»",
        "def f(model, x):\n    with torch.no_grad():\n        y = model(x)\n        return «y['out']»",
        "def f(model, x):\n    with torch.no_grad():\n        y = model.sample(x)\n    return «y.cpu()»",
        "def f(model, x):\n    with torch.no_grad():\n        y = model(x)\n        a = y['out']\n    return «a.cpu()»",
        "def f(model, x):\n    with torch.no_grad():\n        y = model(x)\n    a = y['out'][0]\n    return «a»",
        "for i, (x, y) in enumerate(tqdm(train_loader)):\n    x = x.to(device)\n    net(x)\n    «x.cpu()»",
        "for batch in data.get_batches(X, Y):\n    x, y = batch\n    «x»",
        "x, y = next(iter(loader))\n«x»",
        "from torchvision import datasets\ndigits = datasets.MNIST('.')\nxs = [«d[0]» for d in digits]",
        "import torchvision\nfor d in torchvision.datasets.CIFAR10('.'):\n    «d[0]»",
        "seen = None\nfor x, y in loader:\n    seen = torch.cat((y, y))\n    «seen»",
        "def show(data, n):\n    x = data.next_batch(n, device=device)\n    return «x[0].cpu()»",
        "def show(data, n):\n    return «data.get_train_batch(n)»",
        "for x, _ in loader:\n    x = turn.transform_points(x.cuda())\n    «x[0][1]»",
        "a = []\nwith torch.no_grad():\n    for x in xs:\n        y = make_grid(x)\n        a.append(y)\n"
        "z = torch.cat(a, 1)\n«z.permute(1, 2, 0)»",
        "bar = tqdm(iterable=loader)\nfor x, _ in bar:\n    «x»",
        "def sort(output_lengths, num_boxes):\n    return «output_lengths», num_boxes",
        "def show(imgs_A, real_A):\n    return «real_A»",
        "def psnr(img, imclean):\n    return «imclean»",
        "def show(images):\n    return «images.cpu()»",
        "def flat(grads):\n    return «torch.cat(grads)»",
        "def solve(gradient):\n    return «gradient»",
        "def one_hot(z, n):\n    return torch.eye(n)[«z.cpu()».data.numpy(),]",
        "def look_up(table, z):\n    return table[:, «z».data.view(-1).numpy()]",
        "def figures(y, p):\n    target = «y.cpu()».data.numpy()\n    return (p == target).mean()",
        "def figures(y_batch):\n    labels = «y_batch».data",
        "words = nn.Embedding(9, 3)\ndef f(x):\n    words(x)\n    return «x»",
        "words = nn.Sequential(nn.Embedding(9, 3), nn.ReLU())\ndef f(x):\n    for i in range(3):\n"
        "        part = x[:, i].clone()\n        words(Variable(part))\n    return «x[:, 1]»",
        "def f(x, w):\n    y = x.view(-1)\n    F.embedding(y, w)\n    return «x»",
        "class A(nn.Module):\n    def __init__(self):\n        self.table = nn.Embedding(9, 3)\n"
        "        self.words = nn.Sequential(self.table, nn.ReLU())\n"
        "    def forward(self, x):\n        y = x[:, 0].clone()\n        if «y».data.sum():\n            self.words(y)",
        "def f(x):\n    return np.unique(«x.cpu()».data.numpy())",
        "def f(x):\n    return one_hot(3, «x».data.numpy())",
        "def f(x, words):\n    return decode_sequence(words, «x».data[:, 1:])",
        "def f(x, t):\n    return t.batch_decode(«x».data[0])",
        "def f(x):\n    acc1 = measure(x)\n    kept.append(«acc1».data.cpu().numpy())",
        "for x in pairs:\n    with torch.no_grad():\n        good = measure(net(x))[0]\n    «good»",
        "def look_up(table, z):\n    return table[«z».data[0]]",
        "def f(targets):\n    return «to_contiguous(targets).view(-1)»",
        "def f(path):\n    x = Variable(load_image(path).unsqueeze(0).type(kind))\n    return «x»",
        "def f(x):\n    return «torch.autograd.grad(net(x), x)[0]»",
        "def f(x):\n    slope, = torch.autograd.grad(net(x), x, create_graph=False)\n    return «slope»",
        "def f(x, lenY):\n    return «lenY[0]»",
        "import torchnet as tnt\ndef on_forward(state):\n    return «state['sample'][1].view(-1)»",
        "def f(lengthsOf, lengthX):\n    return «lengthX»",
        "def f(x, field):\n    return itos(«x[:, 0].cpu()».data.numpy(), field)",
        "def f(preds):\n    return [[words[n] for n in «p.cpu()».data.numpy()] for p in preds]\nf(net(x))",
    ],
)
def test_nothing_gives_it_a_graph(text: str) -> None:
    assert seems_graphless(text)


@pytest.mark.parametrize(
    "text",
    [
        "def f(stages, x):\n    image = stages.next()(x)\n    return «image»",
        "def f(loader):\n    image, _ = loader.next()\n    image = encode(image)\n    return «image»",
        "for batch in pairs:\n    «batch.src»",
        "def show(net, n):\n    x = net.sample_batch(n)\n    return «x[0]»",
        "def show(net, x):\n    x = turn.transform_points(net(x))\n    return «x[0]»",
        "for x, _ in loader:\n    x = stretch.form_points(x)\n    «x[0]»",
        "a = []\nfor x in xs:\n    a.append(net(x))\nz = torch.cat(a, 1)\n«z.permute(1, 2, 0)»",
        "for batch in loader:\n    batch = net(batch)\n    «batch.src»",
        "for x in loader:\n    y, _ = model(x)\n    y = y.view(-1, 2)\n    «y»",
        "for x in loader:\n    with torch.no_grad():\n        y = model(x)\n    y = net(y)\n    «y»",
        "def f(model, xs):\n    kept = []\n    for x in xs:\n        kept += [net(x)]\n    return «torch.stack(kept, 1)»",
        "«net(x)»",
        "«net.weight»",
        "for x, y in loader:\n    x = net(x)\n    x = x.cpu()\n    «x»",
        "for x, y in loader:\n    x.requires_grad_()\n    «x»",
        "for x, y in pairs:\n    «x»",
        "def f(img):\n    return «img»",
        "def f(z):\n    images = net(z)\n    images = images.cpu()\n    return «images»",
        "def f(images):\n    images.requires_grad = True\n    return «images»",
        "def f(loss, w):\n    grads = torch.autograd.grad(loss, w, create_graph=True)\n    return «torch.cat(grads)»",
        "def flat(parts):\n    return «torch.cat(parts)»",
        "«torch.zeros(3, requires_grad=True)»",
        "def f(x):\n    return «x»",
        "def f(x):\n    labels = net(x)\n    return «labels»",
        "def f(x):\n    return «Variable(x)»",
        "def f(make, z):\n    fake = Variable(make(z).data, requires_grad=True)\n    return «fake»",
        "def f(make, z):\n    fake = Variable(make(z).data + make(z))\n    return «fake»",
        "def f(make, z):\n    fake = Variable(make(z).data)\n    if z:\n        fake = make(z)\n    return «fake»",
        "class N(nn.Module):\n    def set(self, x):\n        self.held.copy_(x)\n    def get(self): return «self.held»",
        "def f(x):\n    x = Variable(x)\n    return «x * 2»",
        "outs = []\nfor x in loader:\n    outs += [net(x)]\n«torch.stack(outs)»",
        "def f(table, z):\n    return table[«z».data.long()]",
        "def f(table, z):\n    return table[0, «z».data.numpy().astype(int)]",
        "def f(table, z):\n    return table[look(«z».data)]",
        "def f(z):\n    return «z».data[0]",
        "def f(y):\n    curve = «y».data.numpy()",
        "words = nn.Embedding(9, 3)\ndef f(x):\n    y = words(x)\n    return «y»",
        "words = nn.Embedding(9, 3)\ndef f(x):\n    words(x.long())\n    return «x»",
        "words = nn.Embedding(9, 3)\ndef f(x):\n    words(x[0])\n    return «x[1]»",
        "words = nn.Embedding(9, 3)\ndef f(x, plain):\n    y = net(x)\n    if plain:\n        words(x)\n    return «y»",
        "words = nn.Embedding(9, 3)\nwords = nn.Linear(9, 3)\ndef f(x):\n    words(x)\n    return «x»",
        "words = nn.Sequential(nn.Linear(9, 3), nn.Embedding(9, 3))\ndef f(x):\n    words(x)\n    return «x»",
        "def f(x):\n    return np.sort(«x.cpu()».data.numpy())",
        "def f(z, net):\n    return net.decode(«z».data[:, 1:])",
        "def f(x):\n    accumulated = net(x)\n    kept.append(«accumulated».data)",
        "def f(x):\n    accuracy = net(x)\n    kept.append(«accuracy».data)",
        "for x in pairs:\n    with torch.no_grad():\n        good = self.weights[0]\n    «good»",
        "def f(path):\n    x = Variable(load_model(path)(path))\n    return «x»",
        "def f(x):\n    slope, = torch.autograd.grad(net(x), x, create_graph=True)\n    return «slope»",
        "def f(x, **options):\n    slope, = torch.autograd.grad(net(x), x, **options)\n    return «slope»",
        "def f(x, y):\n    slope, = torch.autograd.grad(net(x), x, None, True, True)\n    return «slope»",
        "def f(x):\n    target = «x».data.numpy()",
        "def f(y):\n    target = («y».data * 2).numpy()",
        "def f(x):\n    y = net(x)\n    target = «y.cpu()».data.numpy()",
        "def f(pred_labels, class_logits, soft_targets):\n    return «pred_labels»",
        "def f(net, other):\n    for target_param, w in zip(net.all(), other.all()):\n        print(«target_param»)",
        "def f(target_weight):\n    return «target_weight»",
        "def f(x, y):\n    F.mse_loss(net(x), y).backward()\n    return «y»",
        "def f(x, y):\n    F.cross_entropy(x, y).backward()\n    return «x»",
        "def f(self):\n    with torch.no_grad():\n        return «self.weights»",
        "def f(x, model):\n    y = model(x)\n    with torch.no_grad():\n        return «y»",
        "def f(x, model):\n    y = model(x)\n    with torch.no_grad():\n        return «y['out']»",
        "def f(y):\n    with torch.no_grad():\n        return «y.weights['out']»",
        "def f(x):\n    with torch.no_grad():\n        return «x»",
        "def f(x, kept):\n    with torch.no_grad():\n        y = kept\n    return «y»",
        "def f(x, kept):\n    with torch.no_grad():\n        y = kept['out']\n    return «y»",
        "def f(x):\n    y = model(x)\n    with torch.no_grad():\n        a = y['out']\n    return «a»",
        "def f(x):\n    with torch.no_grad():\n        y = model(x)\n    if x:\n        y = model(x)\n"
        "    a = y['out']\n    return «a»",
        "def f(x):\n    y = net(x)\n    if test:\n        with torch.no_grad():\n            y = net(x)\n    return «y»",
        "y = net(x)\nwith torch.no_grad():\n    «y»",
        "outputs = []\nfor x in loader:\n    outputs.append(net(x))\n«torch.stack(outputs)»",
        "outs = [w]\nfor x in pairs:\n    with torch.no_grad():\n        outs.append(net(x))\n«torch.stack(outs)»",
        "outs = []\nfor x in pairs:\n    y = net(x)\n    with torch.no_grad():\n        outs.append(y)\n«torch.stack(outs)»",
        "a = []\nfor x in pairs:\n    with torch.no_grad():\n        a.append(net(x))\na.append(net(y))\n«torch.stack(a)»",
        "outs = []\nouts.insert(0, net(x))\nwith torch.no_grad():\n    outs.append(net(x))\n«torch.stack(outs)»",
        "outputs = [torch.zeros(3)]\nfor x in loader:\n    outputs.append(net(x))\n«torch.cat(outputs)»",
        "from mine import datasets\ndigits = datasets.MNIST('.')\nxs = [«d[0]» for d in digits]",
        "for d in found:\n    «d[0]»",
        "seq = «model(x)[0]».data\nsents = decode(vocab, seq)",
        "seq = «model(x)[0]».data\nseq = seq.max(1)[1]\nsents = decode_sequence(vocab, seq)",
        "class N(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.register_buffer('m', zeros())\n"
        "    def forward(self, x):\n        self.m = net(x)\n        return «self.m.cpu()»",
        "class N(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.register_buffer('m', zeros())\n"
        "    def forward(self, x):\n        return «self.n.cpu()»",
        "for i, batch in enumerate(loader):\n    a, b = batch\n    for one, guess in zip(a, net(b)):\n        «guess»",
        "def f(x):\n    batch = net(x)\n    a, b = batch\n    return «a»",
        "def f(batch):\n    a = net(batch)\n    return «a»",
        "def f(outs):\n    return [«item.cpu()» for item in outs]",
        "def f(x):\n    inputs = [net(x)]\n    return [«item.cpu()» for item in inputs]",
        "for x, y in zip(*pairs):\n    «x»",
        "def query(self, images):\n    for image in images:\n        kept.append(«image»)",
        "def f(x, lenient):\n    return «lenient»",
        "import torchnet as tnt\ndef on_forward(state):\n    return «state['output'][1]»",
        "def step(state):\n    return «state['sample'][1]»",  # drawn, perhaps
        "def f(x):\n    return [words[n] for n in «net(x)».data.numpy()]",  # a layer of torch gives no places
    ],
)
def test_it_may_have_one(text: str) -> None:
    assert not seems_graphless(text)


KEPT = """\
class Limit:
    def __init__(self, top):
        self.top = {made}
        {beside}

    def of(self, x):
        self.top = self.top.to(x.device)
        return «self.top»[0]
"""


@pytest.mark.parametrize("made", ["torch.Tensor([top])", "Variable(torch.FloatTensor([top]))", "torch.ones(1).cuda()"])
def test_an_attribute_that_holds_nothing_else_has_none(made: str) -> None:
    assert seems_graphless(KEPT.format(made=made, beside="pass"))


@pytest.mark.parametrize(
    ("made", "beside"),
    [
        ("nn.Parameter(torch.ones(1))", "pass"),
        ("torch.ones(1)", "self.top.requires_grad_()"),
        ("torch.ones(1)", "self.top.requires_grad = True"),
        ("torch.ones(1)", "self.top = net(top)"),
        ("torch.ones(1)", "self.top, self.low = net(top)"),
        ("torch.ones(1)", "self.top += net(top)"),
        ("Variable(net(top))", "pass"),
        ("top", "pass"),
    ],
)
def test_an_attribute_may_hold_something_with_a_graph(made: str, beside: str) -> None:
    assert not seems_graphless(KEPT.format(made=made, beside=beside))


PREDICTED = """\
def evaluate(loader, model, metric, y_true):
    for x, other in loader:
        with torch.no_grad():
            out = model(x)
        {before}
        «{value}»
"""


@pytest.mark.parametrize("value", ["out.permute(0, 2, 3, 1)", "out[0].transpose(0, 1)", "metric(out, y_true)"])
def test_what_was_predicted_without_autograd_has_none(value: str) -> None:
    assert seems_graphless(PREDICTED.format(before="pass", value=value))


@pytest.mark.parametrize(
    ("before", "value"),
    [
        ("pass", "metric(out, other)"),  # may be a layer
        ("pass", "metric(out)"),
        ("pass", "metric(y_true, y_true)"),
        ("out = model(x)", "metric(out, y_true)"),
        ("out = model(x)", "out.permute(0, 2, 3, 1)"),
        ("pass", "net(out, y_true)"),  # has parameters
    ],
)
def test_what_is_made_of_a_prediction_may_have_one(before: str, value: str) -> None:
    assert not seems_graphless(PREDICTED.format(before=before, value=value))


@pytest.mark.parametrize("name", ["err_label", "loss_label", "label_cost", "target_error"])
def test_a_loss_of_labels_is_no_label(name: str) -> None:
    assert not seems_graphless(f"def f(criterion, out, y):\n    {name} = criterion(out, y)\n    return «{name}»")

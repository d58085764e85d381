"""Which changes set what a model starts with. In the snippets, the call or the target that changes a tensor is marked."""

from __future__ import annotations

from textwrap import dedent

import pytest

from marked import marked
from torchlint.api import lint
from torchlint.semantics.data.changes import DataChanges

HEADER = "import torch\nfrom torch import nn\n"


def is_beginning(snippet: str) -> bool:
    semantics, (node,) = marked(HEADER + dedent(snippet))
    [change] = semantics.of(DataChanges).at[node]
    return change.is_beginning


@pytest.mark.parametrize(
    "function",
    [
        *(
            "init_weights",
            "_init_weights",
            "weights_init",
            "initWeights",
            "weights_init_normal",
            "initialise",
            "initialize_layer",
        ),
        *("reset_parameters", "reset_params", "resetWeights", "xavier_uniform_initialization", "glorot", "load_pretrained"),
        *("load_embeddings", "from_checkpoint", "loadWeights", "build_model", "make_layer", "convert_weights"),
        *("variance_scaling", "trunc_normal_", "_lecun_normal", "he_uniform", "zeros", "uniform"),
    ],
)
def test_functions_that_are_called_after_it(function: str) -> None:
    assert is_beginning(f"def {function}(m):\n    «m.weight.data.fill_(1)»\n")
    assert is_beginning(f"def {function}(m, v):\n    «m.weight.data.copy_(v)»\n")


@pytest.mark.parametrize(
    "function",
    [
        *(
            "step",
            "update",
            "soft_update",
            "clip_weights",
            "forward",
            "train",
            "apply_masks",
            "reset",
            "reset_noise",
            "init_hidden",
        ),
        *(
            "load_batch",
            "load_data",
            "initial_state",
            "reload_inputs",
            "initialised_step",
            "merge",
            "finish",
            "training_loader",
        ),
    ],
)
def test_functions_that_are_called_after_something_else(function: str) -> None:
    assert not is_beginning(f"def {function}(m):\n    «m.weight.data.fill_(1)»\n")


def test_a_function_that_trains_as_well() -> None:
    trains = """
        def init_and_fit(m, optimizer, loss):
            «m.weight.data.fill_(1)»
            loss().backward()
            optimizer.step()
        """
    assert not is_beginning(trains)
    assert is_beginning(trains.replace("loss().backward()", "print(loss)").replace("optimizer.step()", "pass"))


def test_what_only_such_functions_call() -> None:
    helper = """
        def fill(m):
            «m.weight.data.fill_(1)»
        def init_weights(m):
            fill(m)
        """
    assert is_beginning(helper)
    assert not is_beginning(dedent(helper) + "def step(m):\n    fill(m)\n")
    assert not is_beginning("def fill(m):\n    «m.weight.data.fill_(1)»\n")
    nested = """
        def init_weights(model):
            def fill(m):
                «m.weight.data.fill_(1)»
            model.apply(fill)
        """
    assert is_beginning(nested)
    assert not is_beginning(nested.replace("init_weights", "step"))


def test_two_functions_that_call_each_other() -> None:
    assert not is_beginning("def f(m):\n    «m.weight.data.fill_(1)»\n    g(m)\ndef g(m):\n    f(m)\n")


def test_the_call_of_an_initialiser_object() -> None:
    initialiser = "class {}:\n    def __call__(self, m):\n        «m.weight.data.fill_(1)»\n"
    assert is_beginning(initialiser.format("WeightInitializer"))
    assert not is_beginning(initialiser.format("WeightClipper"))


def test_constructors() -> None:
    constructor = """
        class Net(nn.Module):
            def __init__(self, v):
                super().__init__()
                self.layer = nn.Linear(2, 2)
                «self.layer.weight.data.{}»
        """
    assert is_beginning(constructor.format("copy_(v)"))
    run = constructor.replace("__init__(self", "forward(self").replace("self.layer = nn.Linear(2, 2)", "self.layer(v)")
    assert not is_beginning(run.format("copy_(v)"))


def test_the_result_of_an_operation_is_no_beginning() -> None:
    assert not is_beginning("def init(x: nn.Parameter):\n    out = x.sigmoid()\n    «out.data.zero_()»\n    return out\n")


def test_what_is_reshaped_is_no_beginning() -> None:
    assert not is_beginning("def init(x: nn.Parameter, n):\n    «x.data.resize_(n).zero_()»\n")


def test_random_values_for_a_layer() -> None:
    assert is_beginning("def f(m):\n    «m.weight.data.normal_(0, 0.02)»\n")
    assert is_beginning("def f(m):\n    «m.bias.data.uniform_(-1, 1)»\n")
    assert not is_beginning("def f(m):\n    «m.noise.data.normal_(0, 0.02)»\n")
    assert not is_beginning("def f(m, loss):\n    «m.weight.data.normal_(0, 0.02)»\n    loss.backward()\n")


def test_a_bias_beside_a_weight_that_is_given_random_values() -> None:
    drawn = "def f(m):\n    m.weight.data.normal_(0, 0.02)\n    «m.bias.data.{}»\n"
    assert is_beginning(drawn.format("zero_()"))
    assert is_beginning(drawn.format("fill_(0.1)"))
    assert not is_beginning(drawn.format("mul_(2)"))
    assert not is_beginning(drawn.format("zero_()").replace("m.weight", "n.weight"))
    assert not is_beginning(drawn.format("zero_()").replace("m.weight", "m.noise"))
    assert not is_beginning(drawn.format("zero_()") + "    m.loss().backward()\n")
    for weight in ("m.weight", "m.weight.data"):
        function = f"def f(m):\n    nn.init.normal_({weight})\n    «m.bias.data.fill_(0.1)»\n"
        assert is_beginning(function)
        assert not is_beginning(function.replace(weight, "n.weight"))
        assert not is_beginning(function.replace(weight, "m.noise"))
        assert not is_beginning(function.replace("nn.init.normal_", "show"))


def test_a_model_that_the_function_has_made() -> None:
    made = """
        def f(v):
            net = make()
            «net.fc.weight.data.copy_(v)»
            return net
        """
    assert is_beginning(made)
    assert is_beginning(made.replace("«net.fc", "for m in net.modules():\n                «m"))
    assert is_beginning(made.replace("return net", "for x in v: net(x).backward()"))
    assert is_beginning(made.replace("copy_(v)", "normal_()").replace("return net", "for x in v: net(x).backward()"))
    assert not is_beginning(made.replace("net = make()", "net = v"))
    assert not is_beginning(made.replace("make()", "make()\n            out = net(v)"))
    assert not is_beginning(made.replace("make()", "make()\n            v.backward()"))
    assert not is_beginning(
        made.replace("«net.fc.weight.data.copy_(v)»", "for x in v: «net.fc.weight.data.copy_(v)»; net(x).backward()")
    )


def test_layers_that_were_just_made() -> None:
    assert is_beginning("def f():\n    m = nn.Linear(2, 2)\n    «m.weight.data.mul_(2)»\n    return m\n")
    used = "def f(x):\n    m = nn.Linear(2, 2)\n    y = m(x)\n    «m.weight.data.mul_(2)»\n    return y\n"
    assert not is_beginning(used)


LOOP = """
        for batch in loader:
            loss = model(batch).sum()
            loss.backward()
            optimizer.step()
        """


@pytest.mark.parametrize("change", ["«model.layer.weight.data.mul_(2)»", "for p in model.parameters(): «p.data.mul_(2)»"])
def test_in_front_of_the_training_loop(change: str) -> None:
    change = f"\n        {change}"
    assert is_beginning(change + LOOP)
    assert not is_beginning(LOOP + change)
    assert not is_beginning("\n        loss = model(torch.ones(2)).sum()" + change + "\n        loss.backward()")
    assert not is_beginning("\n        loss = model(torch.ones(2)).sum()" + change + LOOP)


def test_at_the_top_level_of_what_trains_elsewhere() -> None:
    assert is_beginning("model = make()\n«model.layer.weight.data.mul_(2)»\ntrain(model)\n")
    assert is_beginning("model = make()\nfor p in model.parameters():\n    «p.data.mul_(2)»\ntrain(model)\n")
    assert not is_beginning("w = nn.Linear(2, 2).weight\n«w.data.mul_(2)»\ntrain(w)\n")
    assert not is_beginning("model = make()\nfor epoch in range(3):\n    train(model)\n    «model.layer.weight.data.mul_(2)»\n")
    assert not is_beginning("out = model(1)\n«model.layer.weight.data.mul_(2)»\nfinish(out)\n")
    assert not is_beginning("for p in model.parameters():\n    print(p.grad)\n    «p.data.mul_(2)»\n")


def test_within_the_loop() -> None:
    assert not is_beginning(LOOP.rstrip() + "\n            «model.layer.weight.data.mul_(2)»\n")


def test_a_main_function_is_like_the_top_level() -> None:
    main = "def main(model, loader):\n    «model.layer.weight.data.mul_(2)»\n    for b in loader:\n        b.backward()\n"
    assert is_beginning(main)
    assert not is_beginning(main.replace("main", "run"))


def test_a_lambda_runs_later() -> None:
    assert not is_beginning("def init(m):\n    return lambda v: «m.weight.data.fill_(v)»\n")


ROOM = "model.resize_token_embeddings(9)\n        "


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("model = AutoModel.from_pretrained('a'); «model.get_input_embeddings().weight.data[3]» = v", True),
        (ROOM + "«model.get_input_embeddings().weight.data[3]» = v", True),
        (ROOM + "for i in x: «model.get_input_embeddings().weight.data[i]» = v", True),
        (ROOM + "w = model.get_input_embeddings().weight.data; «w[3]» = v", True),
        ("«model.get_input_embeddings().weight.data[3]» = v", False),
        (ROOM + "y = model(x); «model.get_input_embeddings().weight.data[3]» = v", False),
        (ROOM + "for i in x:\n            «model.get_input_embeddings().weight.data[i]» = v\n            model(i)", False),
        (ROOM + "«other.get_input_embeddings().weight.data[3]» = v", False),
        (ROOM + "«model.get_input_embeddings().weight.data[3]» = v; model(x).sum().backward()", False),
    ],
)
def test_rows_for_new_words(body: str, expected: bool) -> None:
    assert (
        is_beginning(f"""
    def prepare(model, other, x, v):
        {body}
    """)
        is expected
    )


@pytest.mark.parametrize(("name", "expected"), [("running_mean", []), ("running_var", []), ("mean", ["TPL001"])])
def test_statistics_have_no_gradient_that_could_go_wrong(name: str, expected: list[str]) -> None:
    text = f"""
        class Norm(nn.Module):
            def forward(self, x):
                self.{name}.data.mul_(0.9)
                return x - self.{name}
        """
    findings = lint(HEADER + dedent(text) + "def train(net, x):\n    net(x).sum().backward()\n")
    assert [each.code for each in findings] == expected


LAYER = """\
class Layer(nn.Module):
    def __init__(self, device):
        super().__init__()
        self.weight = nn.Parameter(torch.FloatTensor(3, 4)).to(device)
        self.{name}()

    def {name}(self):
        «self.weight.data.uniform_(-1, 1)»

    def forward(self, x):
        return x @ self.weight
"""


def test_what_the_constructor_moved_is_initialised_as_a_parameter_is() -> None:
    assert is_beginning(LAYER.format(name="reset_parameters"))
    clipped = LAYER.format(name="clip").replace("        self.clip()\n", "", 1).replace("uniform_", "clamp_")
    assert not is_beginning(clipped)


def test_a_model_that_each_round_makes_anew() -> None:
    made = "for fold in folds:\n    net = nn.Linear(2, 2)\n    for p in net.parameters():\n        «p.data.uniform_(-1, 1)»\n"
    trained = "    for x in loader:\n        net(x).sum().backward()\n"
    assert is_beginning(made + trained)
    assert is_beginning("def main(folds, loader):\n" + "".join(f"    {line}\n" for line in (made + trained).splitlines()))
    before = "net = nn.Linear(2, 2)\nfor fold in folds:\n    for p in net.parameters():\n        «p.data.uniform_(-1, 1)»\n"
    assert not is_beginning(before + trained)
    late = "for fold in folds:\n    net = nn.Linear(2, 2)\n    for x in loader:\n        net(x).sum().backward()\n"
    assert not is_beginning(late + "    for p in net.parameters():\n        «p.data.uniform_(-1, 1)»\n")


def test_what_a_test_sets_up() -> None:
    body = "        self.net = Net()\n        for p in self.net.parameters():\n            «p.data.uniform_(-1, 1)»\n"
    assert is_beginning("class Checks(TestCase):\n    def setUp(self):\n" + body)


COPIED = "import copy\ndef f(model, xs, ps):\n"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("for n, p in copy.deepcopy(ps).items():\n    «p.data.zero_()»\n    sums[n] = p", True),
        ("for p in copy.deepcopy(model).parameters():\n    «p.data.zero_()»", True),
        ("mean = copy.deepcopy(model)\nfor p in mean.parameters():\n    «p.data.fill_(0)»\nmean(xs)", True),
        ("q = copy.deepcopy(ps[0])\n«q.data.zero_()»", True),
        (
            "for x in xs:\n    mean = copy.deepcopy(model)\n    for p, q in zip(mean.parameters(), ps):\n"
            "        «p.data.copy_(q)»\n    mean(x)",
            True,
        ),
        ("for x in xs:\n    for p in copy.deepcopy(ps):\n        «p.data.zero_()»", True),
        ("for p in ps:\n    «p.data.zero_()»", False),
        ("for p in copy.copy(ps):\n    «p.data.zero_()»", False),
        ("for p in copy.deepcopy(ps):\n    y = p * xs\n    «p.data.zero_()»", False),
        ("for p in copy.deepcopy(ps):\n    for x in xs:\n        «p.data.zero_()»\n        y = p * x", False),
        ("mean = copy.deepcopy(model)\ny = mean(xs)\nfor p in mean.parameters():\n    «p.data.fill_(0)»", False),
        ("mean = copy.deepcopy(model)\nfor x in xs:\n    for p in mean.parameters():\n        «p.data.fill_(0)»", False),
        ("mean = copy.deepcopy(model)\nfor p, q in zip(mean.parameters(), ps):\n    «q.data.copy_(p)»", False),
        ("mean = copy.deepcopy(model)\nmean(xs)\nfor p, q in zip(mean.parameters(), ps):\n    «p.data.copy_(q)»", False),
        ("q = copy.deepcopy(ps[0])\nfor x in xs:\n    «q.data.zero_()»\n    y = q * x", False),
        ("q = copy.deepcopy(ps[0])\nif xs:\n    q = ps[0]\n«q.data.zero_()»", False),
    ],
)
def test_what_was_copied_just_before(body: str, expected: bool) -> None:
    semantics, (node,) = marked(HEADER + COPIED + "".join(f"    {line}\n" for line in body.splitlines()))
    [change] = semantics.of(DataChanges).at[node]
    assert change.is_of_copy is expected
    assert change.is_beginning or not expected


def test_what_puts_back_what_another_method_has_kept() -> None:
    restored = "class Averages:\n    def {}(self): pass\n    def restore(self, p, v):\n        «p.data.copy_(v)»\n"
    assert is_beginning(restored.format("load"))
    for kept in ("store", "apply_shadow", "backup_weights", "storeW"):
        assert not is_beginning(restored.format(kept))
    assert is_beginning(restored.format("store").replace("restore", "restore_checkpoint"))


APPLIED = """
def jiggle(m):
    if isinstance(m, nn.BatchNorm1d):
        «m.weight.data.fill_(1.1)»

def test_it(x):
    net = make().eval()
    net.apply(jiggle)
    assert net(x) is not None
"""


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("assert", "assert", True),
        ("    net.apply", "    net.cuda()\n    net.train()\n    net.apply", True),
        ("    net.apply", "    if x is not None:\n        net.apply", True),
        ("    assert net(x) is not None", "    net(x).backward()", True),
        ("    net.apply", "    y = net(x)\n    net.apply", False),
        ("    net.apply", "    train(net)\n    net.apply", False),
        ("    net.apply(jiggle)\n", "    for each in x:\n        net.apply(jiggle)\n        net(each)\n", False),
        ("    net = make().eval()\n", "    for each in x:\n      net = make().eval()\n", False),
        ("    net = make().eval()\n", "    net = x\n", False),
        ("    net = make().eval()\n", "    net = x or make()\n", False),
        ("    net = make().eval()\n", "", False),
        ("    net = make().eval()\n", "    net = make()\n    def loss(): return net(x)\n    y = loss()\n", False),
        ("    assert net(x) is not None", "    jiggle(net)", False),
        ("    assert net(x) is not None", "    net.register_forward_hook(jiggle)", False),
        ("    assert net(x) is not None", "    x.apply(jiggle)", False),
        ("«m.weight", "«layer.weight", False),
        ("def test_it", "jiggle = jiggle or None\ndef test_it", False),
    ],
)
def test_a_function_that_is_applied_to_what_was_just_made(old: str, new: str, expected: bool) -> None:
    assert old in APPLIED
    assert is_beginning(APPLIED.replace(old, new)) is expected

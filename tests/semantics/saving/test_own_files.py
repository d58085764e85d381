"""Which files a run has written itself before it reads them, and which programs know the CPU alone."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.saving.own_files import OwnFiles


def own_files_of(snippet: str) -> tuple[OwnFiles, ast.Call]:
    """What is known of the files that the code of a snippet writes, and its one marked call."""
    semantics, (node,) = marked("import torch\n" + snippet)
    assert isinstance(node, ast.Call)
    return semantics.of(OwnFiles), node


@pytest.mark.parametrize(
    ("path", "is_test"),
    [("p", True), ("tmp / 'a.pt'", True), ("self.path", True), ("args.path", False), ("opt.path", False)],
)
def test_what_options_name_is_no_file_of_a_test(path: str, is_test: bool) -> None:
    files, call = own_files_of(f"def test_it(self, args, tmp):\n    assert args\n    «torch.load({path})»")
    assert files.is_of_test(call) is is_test


@pytest.mark.parametrize(
    ("body", "is_own"),
    [
        ("torch.save(x, p); return «torch.load(p)»", True),
        ("torch.save(x, f'{p}/a'); return «torch.load(f'{p}/a')»", True),
        ("torch.save(obj=x, f=p / 'a'); return «torch.load(f=p / 'a')»", True),
        ("keep(x, p); return «torch.load(p)»", True),
        ("y = «torch.load(p)»; torch.save(x, p)", False),
        ("torch.save(x, q); return «torch.load(p)»", False),
        ("torch.save(x, p); p = q; return «torch.load(p)»", False),
        ("def g(): torch.save(x, p)\n    return «torch.load(p)»", False),
        ("torch.save(x, p); yield x; return «torch.load(p)»", False),
        ("yield x; torch.save(x, p); return «torch.load(p)»", True),
        ("torch.save(x, p)\n    def g(): yield x\n    return «torch.load(p)»", True),
        ("if x: torch.save(x, p)\n    else: «torch.load(p)»", False),
        ("if x: torch.save(x, p)\n    if q: «torch.load(p)»", True),
        ("if x:\n        torch.save(x, p)\n        return «torch.load(p)»", True),
        ("keep(p, x); return «torch.load(p)»", False),
    ],
)
def test_knows_the_files_that_a_function_wrote(body: str, is_own: bool) -> None:
    files, call = own_files_of(f"def keep(state, path): torch.save(state, path)\ndef f(x, p, q):\n    {body}")
    assert files.is_of_own_file(call) is is_own


@pytest.mark.parametrize(
    ("name", "check", "is_test"),
    [
        ("test_it", "assert f()", True),
        ("test_it", "self.assertEqual(f(), 3)", True),
        ("test_it", "torch.testing.assert_close(f(), 3)", True),
        ("test", "assert f()", False),
        ("test_epoch", "print(f())", False),
        ("protest", "assert f()", False),
    ],
)
def test_knows_tests(name: str, check: str, is_test: bool) -> None:
    files, call = own_files_of(f"class T:\n    def {name}(self):\n        def f(): return «torch.load(p)»\n        {check}")
    assert files.is_in_test(call) is is_test


@pytest.mark.parametrize(
    ("code", "is_own"),
    [
        ("torch.save(x, 'a.pt')\n«torch.load('a.pt')»", True),
        ("torch.save(x, f'{epoch}.pt')\n«torch.load(f'{best}.pt')»", True),
        ("torch.save(x, '{}.pt'.format(epoch))\n«torch.load('{}.pt'.format(best))»", True),
        ("for e in r:\n    if loss < best: torch.save(x, path)\n«torch.load(path)»", True),
        ("if args.train:\n    torch.save(x, path)\n    «torch.load(path)»", True),
        ("if is_main and e % 2 == 0: torch.save(x, path)\n«torch.load(path)»", True),
        ("if self.accelerator.is_main_process: torch.save(x, path)\n«torch.load(path)»", True),
        ("for e in r:\n    is_best = loss < best\n    if is_best: torch.save(x, path)\n«torch.load(path)»", True),
        ("for e in r:\n    is_best = loss < best\n    if is_best and keep: torch.save(x, path)\n«torch.load(path)»", False),
        ("for p in ['train', 'val']:\n    if p == 'val' and x > y: torch.save(x, path)\n«torch.load(path)»", True),
        ("for p in args.phases:\n    if p == 'val': torch.save(x, path)\n«torch.load(path)»", False),
        ("is_new = a > b\nif is_new: torch.save(x, path)\n«torch.load(path)»", False),
        ("if not main_only: torch.save(x, path)\n«torch.load(path)»", False),
        ("if not os.path.exists(path): torch.save(x, path)\n«torch.load(path)»", False),
        ("torch.save(x, f'{epoch}.pt')\n«torch.load(f'{best}.bin')»", False),
        ("torch.save(x, f'{epoch}')\n«torch.load(f'{best}')»", False),
        ("torch.save(x, epoch)\n«torch.load(best)»", False),
        ("torch.save(x, a.dir + '_' + str(i) + '.pt')\n«torch.load(a.dir + '_' + str(best + 1) + '.pt')»", True),
        ("torch.save(x, a.dir + '_' + str(i) + '.pt')\n«torch.load(a.from_ + '_' + str(i) + '.pt')»", False),
        ("torch.save(x, 'a.pt')\n«torch.load('b.pt')»", False),
        ("«torch.load('a.pt')»\ntorch.save(x, 'a.pt')", False),
        ("if args.train: torch.save(x, path)\n«torch.load(path)»", False),
        ("if not test: torch.save(x, path)\n«torch.load(path)»", False),
        ("if mode == 'train': torch.save(x, path)\n«torch.load(path)»", False),
        ("if mode == 'train' and x > 3: torch.save(x, path)\n«torch.load(path)»", False),
        ("def f(): torch.save(x, 'a.pt')\n«torch.load('a.pt')»", False),
        ("«torch.load()»", False),
    ],
)
def test_knows_what_the_same_run_has_saved(code: str, is_own: bool) -> None:
    files, call = own_files_of(code)
    assert files.is_of_same_run(call) is is_own


@pytest.mark.parametrize(
    ("decorator", "parameter", "is_own"),
    [
        ("@pytest.fixture", "weights", True),
        ("@pytest.fixture(scope='session')", "weights", True),
        ("@fixture", "weights", True),
        ("@pytest.fixture", "other", False),
        ("@cached", "weights", False),
    ],
)
def test_knows_what_a_fixture_has_saved(decorator: str, parameter: str, is_own: bool) -> None:
    fixture = f"{decorator}\ndef weights(tmp): torch.save(x, tmp); return tmp\n"
    files, call = own_files_of(fixture + f"def test_it({parameter}): «torch.load({parameter})»")
    assert files.is_of_same_run(call) is is_own


@pytest.mark.parametrize(
    ("code", "knows"),
    [
        ("device = 'cpu'", True),
        ("device = torch.device('cpu')", True),
        ("self.device = torch.device('cpu')", True),
        ("", False),
        ("where = 'cpu'", False),
        ("device = 'cuda'", False),
        ("device = choose('cpu')", False),
        ("device = 'cpu'\nif c: device = 'cuda:0'", False),
        ("device = 'cpu'\nif torch.backends.mps.is_available(): device = args.device", False),
        ("device = 'cpu'\nif args.gpu: model.cuda()", False),
    ],
)
def test_knows_programs_of_the_cpu(code: str, knows: bool) -> None:
    files, _ = own_files_of(code + "\n«torch.load(p)»")
    assert files.knows_cpu_alone is knows


@pytest.mark.parametrize(
    ("body", "is_of_run"),
    [
        ("for i in q:\n        if i < x: torch.save(x, p)\n        else: «torch.load(p)»", True),
        ("while x:\n        if i < x:\n            torch.save(x, p)\n        elif i: «torch.load(p)»", True),
        ("for i in q:\n        if i < x: torch.save(x, q)\n        else: «torch.load(p)»", False),
        # the same flag decides both
        (
            "for i in q:\n        if i < x:\n            if q.keep: torch.save(x, p)\n"
            "        else:\n            if q.keep: «torch.load(p)»",
            True,
        ),
        ("for i in q:\n        if i < x:\n            if q.keep: torch.save(x, p)\n        else: «torch.load(p)»", False),
        (
            "for i in q:\n        if i < x:\n            if q.keep: torch.save(x, p)\n"
            "        else:\n            if not q.keep: «torch.load(p)»",
            False,
        ),
        ("for i in q:\n        if i.train: torch.save(x, p)\n        else: «torch.load(p)»", False),  # one of two things to do
        ("if q < x: torch.save(x, p)\n    else: «torch.load(p)»", False),
        ("if q < x: torch.save(x, p)\n    else:\n        for i in q: «torch.load(p)»", False),
    ],
)
def test_knows_the_files_that_the_other_branch_of_a_loop_writes(body: str, is_of_run: bool) -> None:
    files, call = own_files_of(f"def f(x, p, q):\n    {body}\n")
    assert files.is_of_same_run(call) is is_of_run


@pytest.mark.parametrize(
    ("load", "is_of_run"),
    [
        ("for x in loader:\n        net(x).sum().backward()\n        if x.bad: «torch.load(best)»", True),
        ("for e in range(9):\n        if e: «torch.load(best)»\n        for x in loader: net(x).sum().backward()", True),
        ("for x in loader:\n        net(x).sum().backward()\n        if x.bad: «torch.load(start)»", False),
        ("for x in loader: net(x)\n    «torch.load(best)»", False),
        ("«torch.load(best)»\n    for x in loader: net(x).sum().backward()", False),
    ],
)
def test_knows_the_files_that_a_loop_rolls_back_to(load: str, is_of_run: bool) -> None:
    files, call = own_files_of(
        f"def keep(net, best): torch.save(net, best)\ndef train(net, loader, best, start):\n    {load}\n"
    )
    assert files.is_of_same_run(call) is is_of_run


@pytest.mark.parametrize(
    ("code", "is_offered"),
    [
        ("«torch.load('resnet50-19c8e357.pth')»", True),
        ("path = folder + '/vgg16-397923af.pth'\ndef load(path): return «torch.load(path)»\nload(path)", True),
        ("def f():\n    path = folder + '/vgg16-397923af.pth'\n    return «torch.load(path)»", True),
        ("def load(path): return «torch.load(path)»\ndef f():\n    p = d + 'vgg16-397923af.pth'\n    load(p)", True),
        ("def load(path): return «torch.load(path)»\nload('vgg16-397923af.pth')\nload(args.path)", False),
        ("def load(path): return «torch.load(path)»", False),
        ("«torch.load('mynet-19c8e357.pth')»", False),
        ("«torch.load('resnet50-best.pth')»", False),
    ],
)
def test_knows_the_files_that_torchvision_offers(code: str, is_offered: bool) -> None:
    files, call = own_files_of(code)
    assert files.is_of_torchvision(call) is is_offered


@pytest.mark.parametrize(
    ("head", "is_test"),
    [
        ("def test_it(tmp_path):", True),
        ("def test_it(self, *, monkeypatch):", True),
        ("def test_it(net, path):", False),
        ("def test(tmp_path):", False),
        ("def check(tmp_path):", False),
    ],
)
def test_knows_tests_by_what_pytest_gives_them(head: str, is_test: bool) -> None:
    files, call = own_files_of(f"{head}\n    net.load_state_dict(«torch.load(p)»)")
    assert files.is_in_test(call) is is_test


@pytest.mark.parametrize(
    ("path", "is_of_cpu"),
    [
        ("'models/net_cpu.pt'", True),
        ("'net-cpu-1.pth.tar'", True),
        ("f'{out}/net_{epoch}_cpu.pt'", True),
        ("os.path.join(out, 'cpu.pt')", True),
        ("CPU_FILE", True),
        ("'cpu/net.pt'", False),
        ("'net_cpu_and_gpu.pt'", False),
        ("'netcpu.pt'", False),
        ("args.cpu", False),
        ("f'{args.cpu}'", False),
        ("'net.pt'", False),
    ],
)
def test_knows_the_files_that_are_called_after_the_cpu(path: str, is_of_cpu: bool) -> None:
    files, call = own_files_of(f"import os\nCPU_FILE = 'net_cpu.pk'\n«torch.load({path})»")
    assert files.is_of_cpu_file(call) is is_of_cpu

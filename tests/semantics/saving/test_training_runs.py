"""Which loads read what the training of the same run has saved, and which files save from the CPU alone."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.saving.training_runs import TrainingRuns


def runs_of(snippet: str) -> tuple[TrainingRuns, ast.Call]:
    """What is known of the runs of a snippet, and its one marked call."""
    semantics, (node,) = marked("import os\nimport shutil\nimport torch\n" + snippet)
    assert isinstance(node, ast.Call)
    return semantics.of(TrainingRuns), node


STOP = "def f(net, p, flag):\n    early_stopping = EarlyStopping(3)\n    "


@pytest.mark.parametrize(
    ("code", "is_own"),
    [
        # a training of another file
        ("def f(net, o):\n    train(net, o['n'])\n    net.load_state_dict(«torch.load(o['n'] + '.pt')»)", True),
        ("def f(net, n):\n    fit_model(net, name=n)\n    net.load_state_dict(«torch.load(f'{n}.pt')»)", True),
        ("def f(net, n):\n    train(net)\n    net.load_state_dict(«torch.load(f'{n}.pt')»)", False),
        ("def f(net, n):\n    train(other, n)\n    net.load_state_dict(«torch.load(f'{n}.pt')»)", False),
        ("def f(net, n):\n    net.load_state_dict(«torch.load(f'{n}.pt')»)\n    train(net, n)", False),
        ("def f(net, n, flag):\n    if flag: train(net, n)\n    net.load_state_dict(«torch.load(f'{n}.pt')»)", False),
        ("def f(net, n):\n    constrain(net, n)\n    net.load_state_dict(«torch.load(f'{n}.pt')»)", False),
        # what an object that has trained calls its best
        ("t = Trainer(net)\nt.run(3)\nnet.load_state_dict(«torch.load(t.best_checkpoint_filepath)»)", True),
        ("t = Trainer(net)\nnet.load_state_dict(«torch.load(t.best_checkpoint_filepath)»)\nt.run(3)", False),
        ("t = Trainer(net)\nif flag: t.run(3)\nnet.load_state_dict(«torch.load(t.best_path)»)", False),
        ("t = Trainer(net)\nt.run(3)\nnet.load_state_dict(«torch.load(t.pretrained_path)»)", False),
        # early stopping
        (STOP + "early_stopping(loss, net)\n    net.load_state_dict(«torch.load('a.pt')»)", True),
        (STOP + "early_stopping(loss, other, p)\n    b = p + '/a'\n    net.load_state_dict(«torch.load(b)»)", True),
        (STOP + "early_stopping(loss)\n    net.load_state_dict(«torch.load('a.pt')»)", False),
        (STOP + "early_stopping(loss, other)\n    net.load_state_dict(«torch.load('a.pt')»)", False),
        (STOP + "net.load_state_dict(«torch.load('a.pt')»)\n    early_stopping(loss, net)", False),
        (STOP + "if flag: early_stopping(loss, net)\n    net.load_state_dict(«torch.load('a.pt')»)", False),
        # what a trainer tells of its files
        ("trainer.fit(net)\nnet.load_state_dict(«torch.load(trainer.checkpoint_callback.best_model_path)»)", True),
        ("def f(cb):\n    p = cb.best_model_path\n    «torch.load(p)»", True),
        ("«torch.load(args.model_path)»", False),
        # what a function gives back
        ("def fit(net): torch.save(net, p); return p\nbest = fit(net)\n«torch.load(best)»", True),
        ("def fit(net): torch.save(net, p); return q\nbest = fit(net)\n«torch.load(best)»", False),
        # the training was called before
        ("def fit(): torch.save(x, 'a.pt')\nfit()\n«torch.load('a.pt')»", True),
        ("def fit(): torch.save(x, 'a.pt')\n«torch.load('a.pt')»\nfit()", False),
        ("def fit(): torch.save(x, 'a.pt')\nif args.train: fit()\n«torch.load('a.pt')»", False),
        ("def fit(): torch.save(x, 'b.pt')\nfit()\n«torch.load('a.pt')»", False),
        ("def fit(): torch.save(x, 'a.pt')\ndef test(): «torch.load('a.pt')»\nfit()\ntest()", True),
        ("def fit(): torch.save(x, 'a.pt')\ndef test(): «torch.load('a.pt')»\ntest()\nfit()", False),
        ("def fit(): torch.save(x, 'a.pt')\ndef test(): «torch.load('a.pt')»\nfit()", False),
        ("def fit(c): torch.save(x, c.path); test(c)\ndef test(c): «torch.load(c.path)»", True),
        ("def fit(p): torch.save(x, p)\ndef test(p): «torch.load(p)»\nfit('a')\ntest('a')", True),
        ("def fit(p): torch.save(x, p)\ndef test(p): «torch.load(p)»\nfit('a')\ntest('b')", False),
        (
            "class T:\n"
            "    def fit(self): torch.save(x, self.path)\n"
            "    def test(self): «torch.load(self.path)»\n"
            "    def run(self):\n        self.fit()\n        self.test()",
            True,
        ),
        ("class T:\n    def fit(self): torch.save(x, self.path)\n    def test(self): «torch.load(self.path)»", False),
        # the same path, made in another way
        (
            "def fit(a): torch.save(x, os.path.join(a.out, 'f.pt'))\n"
            "def test(a):\n    a.path = a.out + '/f.pt'\n    «torch.load(a.path)»\nfit(args)\ntest(args)",
            True,
        ),
        (
            "def fit(a): torch.save(x, '%s/f.pt' % a.out)\ndef test(a): «torch.load(f'{a.out}/f.pt')»\nfit(args)\ntest(args)",
            True,
        ),
        (
            "def fit(a): torch.save(x, os.path.join(a.out, 'f.pt'))\n"
            "def test(a):\n    a.path = a.old + '/f.pt'\n    «torch.load(a.path)»\nfit(args)\ntest(args)",
            False,
        ),
        # a copy of what was saved, and a path of what the call gives
        (
            "def keep(x, out, is_best):\n    torch.save(x, out + '/last.pt')\n"
            "    if is_best: shutil.copyfile(out + '/last.pt', os.path.join(out, 'best.pt'))\n"
            "def main(args):\n    for e in r: keep(x, e == 3, out=args.out)\n    «torch.load(args.out + '/best.pt')»",
            True,
        ),
        (
            "def keep(x, out, is_best):\n    torch.save(x, out + '/last.pt')\n"
            "    if is_best: shutil.copyfile(out + '/last.pt', os.path.join(out, 'best.pt'))\n"
            "def main(args):\n    for e in r: keep(x, e == 3, out=args.out)\n    «torch.load(args.old + '/best.pt')»",
            False,
        ),
        (
            "def keep(x, out): torch.save(x, out + '/last.pt')\n"
            "def main(args):\n    shutil.copyfile(args.start, args.out)\n    keep(x, args.out)\n    «torch.load(args.out)»",
            False,
        ),
        # another method loads the best model of the training
        (
            "class T:\n"
            "    def fit(self, s, early_stopping):\n        early_stopping(loss, self.net, s)\n        best = s + '/a'\n"
            "        self.net.load_state_dict(torch.load(best))\n"
            "    def predict(self, s):\n        self.net.load_state_dict(«torch.load(s + '/a')»)",
            True,
        ),
        (
            "class T:\n"
            "    def fit(self, s, early_stopping):\n        early_stopping(loss, self.net, s)\n"
            "        self.net.load_state_dict(torch.load(s + '/a'))\n"
            "    def predict(self, s):\n        self.net.load_state_dict(«torch.load(s + '/b')»)",
            False,
        ),
        # what is written out here is a parameter there
        (
            "def fit(x, out='m'):\n    torch.save(x, out + '/' + NAME + '_best.pth')\n"
            "def main(data):\n    fit(x, out=f'./m/{data}')\n    check(x)\n"
            "def check(x):\n    data = 'shapes'\n    «torch.load(f'./m/{data}/' + NAME + '_best.pth')»",
            True,
        ),
        (
            "def fit(x, out='m'):\n    torch.save(x, out + '/' + NAME + '_best.pth')\n"
            "def main(data):\n    fit(x, out=f'./m/{data}')\n    check(x)\n"
            "def check(x):\n    data = 'shapes'\n    «torch.load(f'./old/{data}/' + NAME + '_best.pth')»",
            False,
        ),
        # each round saves, and loads what an earlier one has saved
        (
            "def f(net, tasks, args):\n    for i, task in enumerate(tasks):\n        if i > 0:\n"
            "            done = list(range(i))\n            if len(done) > 6: done = i\n"
            "            old = f'{args.out}/after{done}.pt'\n            net.load_state_dict(«torch.load(old)»)\n"
            "        train(net, task)\n        save_model(net, args, i + 1)",
            True,
        ),
        (
            "def f(net, tasks, args):\n    for i, task in enumerate(tasks):\n"
            "        net.load_state_dict(«torch.load(f'{args.out}/after{i}.pt')»)\n        test(net, task)\n"
            "    save_model(net, args)",
            False,
        ),
        ("«torch.load()»", False),
    ],
)
def test_knows_what_the_training_of_the_run_has_saved(code: str, is_own: bool) -> None:
    runs, call = runs_of(code)
    assert runs.is_of_run(call) is is_own


@pytest.mark.parametrize(
    ("code", "is_on_cpu"),
    [
        ("net.cpu()\ntorch.save(net.state_dict(), p)", True),
        ("net.eval().to('cpu')\ntorch.save(net.state_dict(), p)", True),
        ("torch.save(net.cpu().state_dict(), p)", True),
        ("torch.save(net.to(torch.device('cpu')).state_dict(), p)", True),
        ("def f(net, gpu):\n    state = {'net': net.cpu() if gpu else net}\n    torch.save(state, p)", True),
        ("torch.save(net.state_dict(), p)", False),
        ("def f(net):\n    state = {'net': net}\n    torch.save(state, p)", False),
        ("other.cpu()\ntorch.save(net.state_dict(), p)", False),
        ("torch.save(net.state_dict(), p)\nnet.cpu()", False),
        # what an optimizer keeps of each parameter stays where it is
        ("torch.save({'net': net.cpu().state_dict(), 'o': optimizer_G.state_dict()}, p)", False),
        (
            "def f(net, o):\n    state = {'net': net.cpu().state_dict(), 'o': self.opt.state_dict()}\n    torch.save(state, p)",
            False,
        ),
        ("torch.save({'net': net.cpu().state_dict(), 'option': option.state_dict()}, p)", True),
        ("torch.save(net.cpu().state_dict(), p)\ntorch.save(net.state_dict(), q)", False),
        ("", False),
    ],
)
def test_knows_files_that_save_from_the_cpu_alone(code: str, is_on_cpu: bool) -> None:
    runs, _ = runs_of(code + "\n«torch.load(p)»")
    assert runs.saves_from_cpu_alone is is_on_cpu

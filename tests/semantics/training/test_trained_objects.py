"""Which loads come behind the training by an object that was told where to save."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.training.trained_objects import TrainedObjects


def has_saved(text: str) -> bool:
    semantics, (load,) = marked("import os\nimport torch\n" + text)
    assert isinstance(load, ast.Call)
    return semantics.of(TrainedObjects).has_saved(load)


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("t = Trainer(net, out_dir)\nt.train()\nx = «torch.load(os.path.join(out_dir, 'best.pth'))»\n", True),
        ("t = Trainer(net, out_dir)\nt.fit(3)\nx = «torch.load(f'{out_dir}/best.pth')»\n", True),
        ("t = Trainer(net)\nt.fit(3, save_to=out_dir)\nx = «torch.load(f'{out_dir}/best.pth')»\n", True),
        ("t = Trainer(net, args.out_dir)\nt.fit(3)\nx = «torch.load(args.out_dir + '/best.pth')»\n", True),
        (
            "t = TrainingLoop(net, out_dir)\nt()\nx = «torch.load(f'{out_dir}/best.pth')»\n".replace(
                "t()", "training()"
            ).replace("t =", "training ="),
            True,
        ),
        (
            "calls = [Saving(out_dir), Showing()]\nt = Trainer(net, calls)\nt.train()\nx = «torch.load(f'{out_dir}/a.pth')»\n",
            True,
        ),
        ("s = Settings('out')\nt = Trainer(net, s)\nt.train()\npath = s.best_model_path\nx = «torch.load(path)»\n", True),
        ("t = Trainer(net, args)\nt.train()\nx = «torch.load(args.save_dir + '/best.pth')»\n", True),
        # another file than the one of this run, or none yet
        ("t = Trainer(net, args)\nt.train()\nx = «torch.load(args.pretrained_path)»\n", False),
        ("t = Trainer(net, out_dir)\nt.train()\nx = «torch.load(other_dir + '/best.pth')»\n", False),
        ("t = Trainer(net, out_dir)\nx = «torch.load(f'{out_dir}/best.pth')»\nt.train()\n", False),
        ("t = Trainer(net, out_dir)\nx = «torch.load(f'{out_dir}/best.pth')»\n", False),
        ("t = Trainer(net, out_dir)\nif args.train:\n    t.train()\nx = «torch.load(f'{out_dir}/best.pth')»\n", False),
        (
            "t = Trainer(net, out_dir)\nif args.train:\n    t.train()\nelse:\n    x = «torch.load(f'{out_dir}/best.pth')»\n",
            False,
        ),
        ("t = Net(out_dir)\nt.train()\nx = «torch.load(f'{out_dir}/best.pth')»\n", False),  # the mode of a module
        ("t = Trainer(net, size)\nt.train()\nx = «torch.load(f'net-{size}.pth')»\n", False),
        ("def f(t, out_dir):\n    t.train()\n    x = «torch.load(f'{out_dir}/best.pth')»\n", False),
    ],
)
def test_what_a_training_has_saved(program: str, expected: bool) -> None:
    assert has_saved(program) is expected


def test_in_a_function_it_is_the_training_of_that() -> None:
    head = "def run(net, out_dir):\n    trainer = Trainer(net, out_dir)\n    trainer.train()\n"
    assert has_saved(head + "    return «torch.load(f'{out_dir}/best.pth')»\n")
    assert not has_saved(head + "def show(out_dir):\n    return «torch.load(f'{out_dir}/best.pth')»\n")

"""Which loads come behind what the same program has saved before, over all that calls them."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.training.whole_programs import WholePrograms

AGENT = """\
import torch

class Agent:
    def save(self, name, n):
        path = f"{self.folder}/{name}-{n}.pkl"
        torch.save(self.net.state_dict(), path)

    def load(self, path):
        self.net.load_state_dict(«torch.load(path)»)

def train(agent, n):
    for each in range(n):
        agent.save("model", each)

def evaluate(agent, path):
    agent.load(path)

"""


def has_saved(text: str) -> bool:
    semantics, (load,) = marked(text)
    assert isinstance(load, ast.Call)
    return semantics.of(WholePrograms).has_saved(load)


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("train(agent, 3)\nevaluate(agent, 'out/model-2.pkl')\n", True),
        ("train(agent, n)\npath = f'out/model-{n - 1}.pkl'\nevaluate(agent, path)\n", True),
        (
            "if __name__ == '__main__':\n    train(agent, 3)\n    print('trained')\n    evaluate(agent, 'out/model-2.pkl')\n",
            True,
        ),
        ("train(agent, 3)\nif args.test:\n    evaluate(agent, 'out/model-2.pkl')\n", True),
        # another run may have saved it
        ("evaluate(agent, 'out/model-2.pkl')\ntrain(agent, 3)\n", False),
        ("if args.train:\n    train(agent, 3)\nevaluate(agent, 'out/model-2.pkl')\n", False),
        ("if args.train:\n    train(agent, 3)\nelse:\n    evaluate(agent, 'out/model-2.pkl')\n", False),
        ("train(agent, 3)\nevaluate(agent, args.path)\n", False),
        ("train(agent, 3)\nevaluate(agent, 'pretrained.pth')\n", False),
        ("train(agent, 3)\n", False),
        ("train(agent, 3)\nevaluate(agent, 'out/model-2.pkl')\ndef other(agent, path):\n    agent.load(path)\n", False),
        ("agent = Agent()\nagent.load('first.pkl')\ntrain(agent, 3)\nevaluate(agent, 'out/model-2.pkl')\n", False),
    ],
)
def test_what_a_program_has_saved_before(program: str, expected: bool) -> None:
    assert has_saved(AGENT + program) is expected


def test_a_method_that_trains_may_save() -> None:
    text = AGENT.replace("def train(agent, n)", "def noise(agent, n)") + (
        "class Master(Agent):\n    def learn(self):\n"
        "        torch.save(self.net.state_dict(), self.folder + f'/{self.n}.pt')\n\n"
        "agent = Master()\nagent.learn()\n"
    )
    again = "state = «torch.load('out/8.pt')»\nagent.net.load_state_dict(state)\n"
    assert has_saved(text.replace("«", "").replace("»", "") + again)
    assert not has_saved(text.replace("«", "").replace("»", "") + again.replace(".pt'", ".pkl'"))

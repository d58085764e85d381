"""Models that other files make by factories, tables and names: what they give to losses, and the mode that they are left in."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from torchlint.api import lint

NETS = """
    from torch import nn
    from torch.nn import functional as F

    class Softly(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.fc = nn.Linear(width, 10)
            self.drop = nn.Dropout(0.5)

        def forward(self, x):
            return F.softmax(self.drop(self.fc(x)), dim=1)

        def get_loss(self, x):
            return F.mse_loss(self(x), x)

        def get_score(self, x):
            self.eval()
            return F.mse_loss(self(x), x)

    class Layered(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.layers = nn.Sequential(nn.Linear(width, 10), nn.BatchNorm1d(10), nn.Softmax(dim=1))

        def forward(self, x):
            return self.layers(x)

    class Logits(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.fc = nn.Linear(width, 10)

        def forward(self, x):
            return self.fc(x)
"""
PACKAGE = """
    from .nets import Layered, Logits, Softly
    SOFT = {"softly": Softly, "layered": Layered}
    ALL = {"softly": Softly, "logits": Logits}

    def build(name, **options):
        return SOFT[name](**options)

    def by_name(name, width):
        if name == "softly":
            return Softly(width)
        return Layered(width)

    def any_of(name, width):
        model = None
        if name == "softly":
            model = Softly(width)
        else:
            model = Logits(width)
        return model

    def plain(name, **options):
        return Logits(**options)

    def load_net(path):
        model = Softly(3)
        model.eval()
        return model
"""
TRAINING = """
    import torch
    import models
    from models import ALL, SOFT, Layered, Logits, Softly, any_of, build, by_name, load_net, plain

    def main(args, loader, val_loader):
        model = {made}
        criterion = torch.nn.CrossEntropyLoss()
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        for epoch in range(10):
            for x, y in loader:
                out = model(x)
                loss = criterion(out, y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            correct = 0
            with torch.no_grad():
                for x, y in val_loader:
                    correct += (model(x).argmax(1) == y).sum().item()
            print(correct)
"""


def codes(folder: Path, text: str, *select: str) -> list[str]:
    """What is found in a file beside a package of models."""
    package = folder / "models"
    package.mkdir(exist_ok=True)
    (package / "nets.py").write_text(dedent(NETS))
    (package / "__init__.py").write_text(dedent(PACKAGE))
    found = lint(dedent(text), filename=str(folder / "train.py"), select=select, project_root=str(folder))
    return [each.code for each in found]


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        ("Softly(3)", ["TPL308", "TPL305"]),
        ("build(args.name, width=3)", ["TPL308", "TPL305"]),
        ("models.build(args.name, width=3).cuda()", ["TPL308", "TPL305"]),
        ("by_name(args.name, 3)", ["TPL308", "TPL305"]),
        ("torch.nn.DataParallel(by_name(args.name, 3)).cuda()", ["TPL308", "TPL305"]),
        ("torch.compile(Softly(3))", ["TPL308", "TPL305"]),
        ("Softly(3) if args.soft else Layered(3)", ["TPL308", "TPL305"]),
        ("SOFT[args.name](3)", ["TPL308", "TPL305"]),
        ("ALL[args.name](3)", ["TPL305"]),
        ("any_of(args.name, 3)", ["TPL305"]),
        ("getattr(models, args.name)(3)", ["TPL305"]),
        ("plain(args.name, width=3)", []),
        ("Logits(3)", []),
        ("load_net(args.path)", ["TPL308"]),
    ],
)
def test_a_model_is_of_one_of_the_classes_that_its_maker_chooses_from(tmp_path: Path, made: str, expected: list[str]) -> None:
    assert codes(tmp_path, TRAINING.format(made=made), "TPL305", "TPL308") == expected


TRAINER = """
    import torch
    from models import Softly

    class Trainer:
        def epoch(self, model, optimizer):
            for x in self.loader:
                loss = model.get_loss(x)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()

        @torch.inference_mode()
        def validate(self, model):
            {begin}
            return sum(model.{method}(x).item() for x in self.val_loader)

        def train(self, model, optimizer):
            model = torch.compile(model)
            for _ in range(9):
                self.epoch(model=model, optimizer=optimizer)
                print(self.validate(model))

    def main(loader):
        model = Softly(3)
        Trainer(loader).train(model, torch.optim.Adam(model.parameters()))
"""


@pytest.mark.parametrize(
    ("method", "begin", "expected"),
    [
        ("get_loss", "pass", ["TPL305"]),
        ("get_loss", "model.eval()", []),
        ("get_score", "pass", []),
        ("missing", "pass", []),
    ],
)
def test_a_method_that_runs_the_model_runs_it(tmp_path: Path, method: str, begin: str, expected: list[str]) -> None:
    assert codes(tmp_path, TRAINER.format(method=method, begin=begin), "TPL305") == expected

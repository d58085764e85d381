# attacks: TPL304
# promise: the log says who called the evaluation
import logging
import sys

import torch
import torch.nn as nn

torch.manual_seed(0)
logging.basicConfig(stream=sys.stdout, format="%(funcName)s: %(message)s", level=logging.INFO, force=True)
model = nn.Linear(3, 2)


def evaluate(batches):
    model.eval()
    total = 0.0
    for x in batches:
        total += model(x).sum().item()
    logging.info("%.3f", total, stacklevel=2)
    return total


def after_each_epoch():
    for _ in range(2):
        evaluate(torch.ones(2, 1, 3))


after_each_epoch()

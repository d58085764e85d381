# attacks: TPL207
# promise: the warning that torch.tensor gives is counted
import logging
import warnings

import torch

seen = []


def remember(message, category, filename, lineno, file=None, line=None):
    seen.append(category.__name__)


warnings.showwarning = remember
warnings.simplefilter("always")
logits = torch.randn(4, 3)
target = torch.tensor(logits.softmax(1))
print(target.shape, target.requires_grad)
print("warnings", len(seen))
logging.getLogger("train").warning("%d warnings", len(seen))

# attacks: TPL106
# promise: a warning of torch changes nothing but what is written to the terminal
import warnings

import torch
from torch import nn

torch.manual_seed(0)
weight = torch.empty(2, 3)
with warnings.catch_warnings():
    warnings.simplefilter("error", FutureWarning)
    try:
        nn.init.xavier_normal(weight)
        how = "old"
    except FutureWarning:
        nn.init.constant_(weight, 0.25)
        how = "new"
print(how, [round(v, 5) for v in weight.flatten().tolist()])

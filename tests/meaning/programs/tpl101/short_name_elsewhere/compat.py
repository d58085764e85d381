"""Names that the experiments share."""

import torch
from torch import autograd

V = autograd.Variable
T = torch.FloatTensor

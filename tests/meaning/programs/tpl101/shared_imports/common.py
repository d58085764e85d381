import random

import torch
from torch.autograd import Variable


def seed_everything(seed=0):
    random.seed(seed)
    torch.manual_seed(seed)

import torch
import torch.nn as nn
import torch.nn.functional as F
from probe import probe


def epoch(model, opt):
    total = 0
    for i in range(3):
        x = torch.ones(2, 3) * i
        loss = F.mse_loss(model(x), torch.zeros(2, 1))
        opt.zero_grad()
        total += loss
        probe(total, model, i)
        loss.backward()
        opt.step()
    return total.item()

# attacks: TPL209
# promise: nothing but the loop reads the name; another file imports it from this module
import torch
from stage import pooled, summary

print(tuple(pooled.shape), round(summary.sum().item(), 4), torch.is_grad_enabled())

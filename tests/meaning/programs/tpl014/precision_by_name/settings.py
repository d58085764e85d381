import torch

PRECISION = torch.float16
placement = ("cpu", torch.int64)

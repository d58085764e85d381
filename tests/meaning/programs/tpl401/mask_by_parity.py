# attacks: TPL401
# promise: the factory takes any dtype that is handed in; a range of truth values it does not make
import torch


def indicator(n, kind):
    return torch.arange(n).to(dtype=kind)


for kind in (torch.int32, torch.float64, torch.bool):
    print(kind, indicator(3, kind).tolist())

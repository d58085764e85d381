# attacks: TPL014
# promise: a move only tries whether a device works
import torch
def warm(device):
    x = torch.ones(3)
    try:
        x.to(device)
        print("usable")
    except RuntimeError:
        print("not usable")
    return x + 1
print(warm(torch.device("cpu")), warm(torch.device("meta")))

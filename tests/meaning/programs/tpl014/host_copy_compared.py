# attacks: TPL014
# promise: what is moved is compared with a tensor of the CPU
import torch
def compare(device: torch.device):
    x = torch.arange(4.0)
    x.to(device)
    host = torch.arange(4.0)
    return torch.equal(x, host)
print(compare(torch.device("meta")))

# attacks: TPL014
# promise: an attribute that holds a tensor can be assigned
from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Sample:
    image: torch.Tensor
    label: int


torch.manual_seed(0)
device = torch.device("cpu")
samples = [Sample(torch.randn(2, 2), label) for label in range(3)]
total = torch.zeros(())
for sample in samples:
    sample.image.to(device)
    total = total + sample.image.mean() * sample.label
first = Sample(torch.ones(2), 0)
first.image.to(device)
print(round(total.item(), 5), first.image.tolist())

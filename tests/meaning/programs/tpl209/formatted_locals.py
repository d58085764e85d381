# attacks: TPL209
# promise: a name that is not written is not read; a format string takes it from `locals()`
import torch
from torch import nn

REPORT = "{steps} steps, last features {features.shape}"


def run(encoder, head, batches):
    steps, result = 0, torch.zeros(2, 4)
    with torch.no_grad():
        for x in batches:
            features = encoder(x)
            result += features.tanh()
            steps += 1
        output = head(result)
    print(REPORT.format(**locals()))
    return output


torch.manual_seed(0)
print(round(run(nn.Linear(3, 4), nn.Linear(4, 1), torch.randn(3, 2, 3)).sum().item(), 4))

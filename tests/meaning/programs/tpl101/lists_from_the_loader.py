# attacks: TPL101
# promise: what a data loader gives is a tensor, so that wrapping does not raise
import numpy as np
import torch
from torch.autograd import Variable
from torch.utils.data import DataLoader


def as_arrays(samples):
    xs, ys = zip(*samples)
    return np.stack(xs), torch.tensor(ys)


torch.manual_seed(0)
model = torch.nn.Linear(2, 2)
samples = [(np.ones(2, dtype=np.float32) * n, n % 2) for n in range(4)]
for x, y in DataLoader(samples, batch_size=2, collate_fn=as_arrays):
    try:
        x = Variable(x)
    except TypeError:
        x = torch.from_numpy(x)
    loss = torch.nn.functional.cross_entropy(model(x), Variable(y))
    print(f"{loss.item():.4f}")

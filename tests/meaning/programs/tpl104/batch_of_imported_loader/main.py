# attacks: TPL104
# promise: a `batch` whose data is moved to the host is a tensor
"""A loader of another module gives batches with data and targets."""
import torch
from loading import batches

torch.manual_seed(0)
sums = []
for batch in batches(3):
    array = batch.data.cpu().numpy()
    sums.append((round(float(array.sum()), 5), batch.target))
print(sums)

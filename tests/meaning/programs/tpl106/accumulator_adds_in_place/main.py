# attacks: TPL106
# promise: only tensors have an `add_`
import torch

from meters import WeightedSum, WeightedRatio

torch.manual_seed(0)
running = WeightedSum()
ratio = WeightedRatio()
for batch in range(4):
    losses = torch.rand(batch + 1)
    running.add_(len(losses), losses.mean())
    ratio.addcdiv_(0.5, losses.sum(), losses.max())
print(round(float(running), 5), round(float(ratio), 5))

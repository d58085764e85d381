# attacks: TPL106
# promise: `data` of something unknown is a tensor
import torch

from replay import Replay

torch.manual_seed(0)
memory = Replay()
for step in range(5):
    transition = torch.randn(2)
    memory.data.add(step % 3, transition)
print(len(memory.data), [round(v, 4) for v in memory.data.total().tolist()])

# attacks: TPL401
# promise: what is called `ctx` is a device; in attention it is the context
import torch
from attention import attend, dot

scores = attend(dot, torch.ones(2, 3), torch.eye(3, dtype=torch.float64))
print(scores.dtype, [round(v, 4) for v in scores[0].tolist()])

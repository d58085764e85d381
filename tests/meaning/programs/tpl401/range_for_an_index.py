# attacks: TPL401
# promise: the cast is to the type of a tensor that may be anything
import torch


def shifted(values: torch.Tensor, start, stop):
    steps = torch.arange(start, stop).to(values.dtype)
    ones = torch.ones(stop - start).to(values)
    return steps * values.sum(), ones


for dtype in (torch.float32, torch.int64, torch.float16):
    steps, ones = shifted(torch.ones(2, dtype=dtype), 0, 3)
    print(steps.dtype, steps.tolist(), ones.dtype)
big, _ = shifted(torch.ones(1, dtype=torch.float16), 2047, 2052)
print(big.tolist())

# attacks: TPL401
# promise: the values fit the dtype; here they wrap around, as bytes do
import torch

HEADER = torch.tensor([137, 335, 589]).byte()
PAD = torch.full((2,), 263).byte()


def frame(payload):
    body = payload.byte()
    check = (HEADER.sum() + body.sum()).remainder(256)
    return torch.cat([HEADER, body, PAD, check.byte()[None]])


print(frame(torch.tensor([1, 2, 300])).tolist())

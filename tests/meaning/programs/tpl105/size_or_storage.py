# attacks: TPL105
# promise: what a constructor is given is a size or data
import torch

torch.manual_seed(0)
storage = torch.arange(4.0).untyped_storage()
view = torch.FloatTensor(storage)
view[0] = 9
shape = torch.Size([2, 2])
grid = torch.FloatTensor(shape).fill_(0.5)
print(view.tolist(), grid.tolist(), torch.LongTensor([1, 2]).sum().item())

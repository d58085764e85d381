# attacks: TPL102
# promise: the loss is given a dimension in place, or by what is written into it
import torch
import torch.nn.functional as F

torch.manual_seed(0)
out, y = torch.randn(4, 3), torch.tensor([0, 1, 2, 0])
loss = F.cross_entropy(out, y)
loss.unsqueeze_(0)
gathered = torch.cat([loss, loss])
print(gathered.shape, type(loss.data[0]).__name__)
total = out.sum()
torch.add(out[0], 1, out=total)
print(type(total.data[0]).__name__, total.shape)

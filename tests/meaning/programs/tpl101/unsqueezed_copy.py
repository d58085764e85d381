# attacks: TPL101
# promise: neither name is reshaped in place
import torch
from torch.autograd import Variable

torch.manual_seed(0)
conv = torch.nn.Conv2d(1, 2, 3)
frame = torch.rand(1, 6, 6)
batch = Variable(frame)
batch.unsqueeze_(0)
features = conv(batch)
print(tuple(features.shape), tuple(batch.shape), tuple(frame.shape))
flat = Variable(frame)
flat.resize_(36)
print(f"{frame[0, 5, 5].item():.4f}", flat.dim(), frame.dim())

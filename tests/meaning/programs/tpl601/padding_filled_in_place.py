# attacks: TPL601
# promise: the logarithms are filled in place where there is padding
import torch
torch.manual_seed(0)
x = torch.randn(3, 4, requires_grad=True)
pad = torch.tensor([[False, False, False, True]])
logp = torch.log(torch.softmax(x, dim=1))
logp.masked_fill_(pad, 0.0)
(-logp.mean()).backward()
print([round(v, 4) for v in x.grad.flatten().tolist()])

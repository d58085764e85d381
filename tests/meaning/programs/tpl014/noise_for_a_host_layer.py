# attacks: TPL014
# promise: what is moved goes into a layer that is not
import torch
device = torch.device("meta")
noise = torch.ones(2)
net = torch.nn.Linear(2, 1)
noise.to(device)
print(net(noise).shape, net(noise).requires_grad)
print(net(noise).sum().item() is not None)

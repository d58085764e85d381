# attacks: TPL103
# promise: what is marked volatile is a tensor
import torch
from market import make_market

torch.manual_seed(0)
policy = torch.nn.Linear(2, 2)
market = make_market()
market.volatile = False
wealth = 1.0
for day in range(4):
    action = policy(torch.tensor([wealth, float(market.volatile)])).argmax().item()
    wealth *= 1 + market.step() * action
print(f"{wealth:.4f}", market.volatile)

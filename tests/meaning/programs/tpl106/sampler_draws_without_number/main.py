# attacks: TPL106
# promise: `multinomial` of something unknown is a tensor's
import torch

from policies import Categorical

torch.manual_seed(0)
policy = Categorical(torch.tensor([0.1, 0.7, 0.2]))
drawn = [policy.multinomial() for _ in range(6)]
print(drawn, round(policy.logs(drawn).item(), 5))

# attacks: TPL304
# promise: the buffer that is filled here keeps numbers; its class, in another file, keeps what it is given
import torch
from memory import Memory
from torch import nn


class Agent:
    def __init__(self, policy):
        self.policy = policy
        self.memory = Memory()

    def play(self, observations):
        """An episode without dropout, as it is played against others."""
        self.policy.eval()
        score = 0.0
        for observation in observations:
            choice = torch.distributions.Categorical(logits=self.policy(observation))
            action = choice.sample()
            self.memory.push(choice.log_prob(action), float(action))
            score += action.item()
        self.policy.train()
        return score


torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Dropout(0.5), nn.Linear(8, 3))
agent = Agent(policy)
for _ in range(3):
    print(agent.play([torch.randn(3) for _ in range(4)]), agent.memory.learn(policy))

# attacks: TPL304
# promise: the second result of a method called `mode` is no index; here it is a log-probability
import torch
from learning import Reinforce
from torch import nn


class GreedyHead:
    """Deterministic actions, with what their probability was."""

    def mode(self, logits):
        log_probs = logits.log_softmax(-1)
        action = log_probs.argmax(-1)
        return action, log_probs.gather(-1, action[..., None]).squeeze(-1)


def rollout(policy, head, observations):
    policy.eval()
    total = torch.zeros(())
    for observation in observations:
        _, log_prob = head.mode(policy(observation))
        total = total + log_prob
    return total


torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(3, 6), nn.Dropout(0.4), nn.Linear(6, 4))
learner = Reinforce(policy)
for _ in range(3):
    total = rollout(policy, GreedyHead(), [torch.randn(3) for _ in range(4)])
    learner.learn(total, 1.0)
    print(round(total.item(), 4))

# attacks: TPL013
# promise: what is called like a module has a method `train`
import torch

from agents import Agent

torch.manual_seed(0)
agent = Agent(3)
agent.train
print(agent.mode, [round(v, 4) for v in agent(torch.ones(2, 3)).flatten().tolist()])
agent.eval
print(agent.mode, [round(v, 4) for v in agent(torch.ones(2, 3)).flatten().tolist()])

# attacks: TPL101
# promise: the tensors are no keys of a dict
import torch
from torch.autograd import Variable

torch.manual_seed(0)
raw = torch.randn(3)
wrapped = Variable(raw)
names = {raw: "raw"}
names.setdefault(wrapped, "wrapped")
graph = {node: name for node, name in ((raw, "input"), (wrapped, "hidden"))}
print(len(names), names[wrapped], sorted(graph.values()))

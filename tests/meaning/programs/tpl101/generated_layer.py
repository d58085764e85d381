# attacks: TPL101
# promise: no string that is executed needs the import
import torch
from torch.autograd import Variable

torch.manual_seed(0)
SETUP = """
state = Variable(torch.zeros(1, {width}))
bias = torch.ones({width})
"""
scope = dict(globals())
exec(SETUP.format(width=3), scope)
print((scope["state"] + scope["bias"]).tolist())

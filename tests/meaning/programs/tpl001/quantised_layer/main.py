# attacks: TPL001
# promise: an attribute called weight is a parameter
"""The weights of a quantised layer keep their integers beside a scale."""
import torch
from quantised import QuantisedLinear

torch.manual_seed(0)
layer = QuantisedLinear(torch.randn(2, 3))
before = layer(torch.ones(3))
layer.weight.data.clamp_(-64, 64)
after = layer(torch.ones(3))
print([round(v, 4) for v in before.tolist()], [round(v, 4) for v in after.tolist()])
print(layer.weight.data.dtype, type(layer.weight).__name__)

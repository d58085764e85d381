# attacks: TPL104
# promise: what has a `to` is a tensor
"""A tokenizer's encoding is moved to the host and read as an array."""
import torch
from tokenizer import encode

torch.manual_seed(0)
encoded = encode("to be or not to be")
ids = encoded.to("cpu").data.numpy()
table = torch.randn(10, 2)
print(ids.tolist(), encoded.words)
print([round(v, 4) for v in table[torch.from_numpy(ids)].sum(1).tolist()])

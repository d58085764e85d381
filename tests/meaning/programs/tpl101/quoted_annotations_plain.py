# attacks: TPL101
# promise: quoted annotations say the same of the tensor
# stays safe: yes
import torch
from torch.autograd import Variable


def cosine(a: "Variable", b: "Variable") -> "Variable":
    """The cosine of two vectors."""
    return (a * b).sum() / (a.norm() * b.norm())


def pairwise(vectors: "list[Variable]") -> "list[list[float]]":
    return [[round(cosine(a, b).item(), 4) for b in vectors] for a in vectors]


torch.manual_seed(0)
print(pairwise([torch.randn(3) for _ in range(2)]))

# attacks: TPL204
# promise: the error of a library function is awaited in the program that calls it
# shows: the function of the library raises for more heads than one; who awaits that awaits the hazard
import torch
from layers import merge_heads

torch.manual_seed(0)


def joined(x):
    try:
        return merge_heads(x), "as a view"
    except RuntimeError:
        return x.mean(dim=1), "averaged over heads"


for heads in (1, 2):
    out, how = joined(torch.randn(2, heads, 3, 4))
    print(heads, how, tuple(out.shape))

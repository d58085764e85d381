# attacks: TPL900
# promise: a comment that is taken away is no part of a string
# stays safe: yes
import torch

torch.manual_seed(0)
HELP = """
weights = torch.ones(3)  # noqa: TPL002
"""
weights = torch.randn(3)  # noqa: TPL002
total = (
    weights.sum()  # noqa: TPL004
    + 1
)  # noqa: TPL001, E501
# noqa: TPL003
text = "# noqa: TPL001"  # noqa: TPL001
print(HELP.count("noqa"), text, round(total.item(), 5))

# attacks: TPL102
# promise: a helper sets the data of the sum, and with them a dimension
import torch


def as_row(tensor):
    tensor.data = tensor.data.view(1)


x = torch.ones(3)
loss = x.sum()
as_row(loss)
print(loss[0])

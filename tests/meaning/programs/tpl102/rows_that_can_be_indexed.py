# attacks: TPL102
# promise: a class of tensors has an index of its own, and sums are of the class
import torch


class Rows(torch.Tensor):
    def __getitem__(self, i):
        return torch.Tensor.__getitem__(self.reshape(-1), i)


x = torch.ones(3).as_subclass(Rows)
loss = torch.sum(x)
print(loss.data[0])

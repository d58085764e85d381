# attacks: TPL006
# promise: the module holds whole numbers, which refuse to require grad
import torch
import torch.nn as nn

torch.manual_seed(0)


class Codebook(nn.Module):
    def __init__(self):
        super().__init__()
        self.index = nn.Parameter(torch.arange(3), requires_grad=False)
        self.table = nn.Embedding(3, 2)

    def forward(self):
        return self.table(self.index).sum()


book = Codebook()
book.requires_grad = True
book().backward()
print(book.table.weight.grad.sum().item(), book.index.requires_grad)

# attacks: TPL104
# promise: another `.cpu()` on the way to an array has no effect
"""A subclass counts the copies that code makes to the host."""
import torch

torch.manual_seed(0)
transfers = []


class Counted(torch.Tensor):
    def cpu(self):
        transfers.append(tuple(self.shape))
        return super().cpu()


def export(x: Counted):
    return x.data.numpy()


x = torch.randn(2, 2).as_subclass(Counted)
arrays = [export(x), export(x * 2)]
print(len(transfers), [a.round(4).tolist() for a in arrays])
x.cpu()
print(transfers)

# attacks: TPL011
# promise: another name for the argument is not the caller's tensor
import torch

torch.manual_seed(0)
weight = torch.randn(3, requires_grad=True)


def squash(batch, train):
    rows = batch
    out = torch.tanh(rows @ weight)
    loss = (rows.pow(2).mean(1) * out * weight.sum()).mean()
    if train:
        loss.backward()
    return loss.item()


def normalise(batch, train):
    flat = batch.view(-1)
    energy = (flat * weight.repeat(len(batch))).sum()
    flat /= flat.norm()
    if train:
        energy.backward()
    return energy.item()


batch = torch.randn(4, 3)
print(round(normalise(batch, train=False), 5))
print(round(batch.norm().item(), 5), [round(v, 5) for v in batch[0].tolist()])
print(round(squash(batch, train=True), 5))

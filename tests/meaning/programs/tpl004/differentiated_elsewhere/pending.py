import torch.nn.functional as F


def pending(model, batches):
    """The sum of the losses of all batches but the first, which is taken at once."""
    total = 0
    for step, x in enumerate(batches):
        loss = F.mse_loss(model(x), x[:, :1])
        if step == 0:
            loss.backward()
            loss = F.l1_loss(model(x), x[:, :1])
        total += loss
    return total

# attacks: TPL104
# promise: the output of a model whose loss is back-propagated is a tensor
"""The reconstruction of an autoencoder is a field of its output, beside the loss."""
import torch
from autoencoder import AutoEncoder

torch.manual_seed(0)
model = AutoEncoder(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    out = model(torch.randn(5, 4))
    optimizer.zero_grad()
    out.loss.backward()
    optimizer.step()
    picture = out.data.numpy()
    print(picture.shape, round(float(picture.sum()), 5), round(out.loss.item(), 5))

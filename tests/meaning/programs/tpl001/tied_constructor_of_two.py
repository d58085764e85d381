# attacks: TPL001
# promise: another module that was made before computes with the shared weight
import torch
import torch.nn as nn

torch.manual_seed(0)


class Decoder(nn.Module):
    def __init__(self, embedding):
        super().__init__()
        self.weight = embedding.weight
        self.prior = self.weight.exp().mean(0)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(4, 3)
        self.decoder = Decoder(self.embed)
        self.embed.weight.data.uniform_(-0.1, 0.1)

    def forward(self, tokens):
        return (self.embed(tokens) * self.decoder.prior).sum()


model = Model()
model(torch.tensor([1, 2])).backward()
print([round(v, 4) for v in model.embed.weight.grad.flatten().tolist()])

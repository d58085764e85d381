# attacks: TPL304
# promise: without a graph, an encoder layer takes another path for rows that are padding
import torch
import torch.nn as nn

torch.manual_seed(0)


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(10, 8, padding_idx=0)
        self.block = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
        self.out = nn.Linear(8, 2)

    def forward(self, tokens):
        return self.out(self.block(self.embed(tokens), src_key_padding_mask=tokens == 0))


def evaluate(model, batches):
    model.eval()
    bad = 0
    for tokens in batches:
        scores = model(tokens)
        bad += int(torch.isnan(scores).any(dim=-1).sum())
    return bad


sentences = torch.tensor([[3, 4, 5], [7, 0, 0], [0, 0, 0], [2, 2, 0]])
print(evaluate(Tagger(), sentences.split(2)))

# attacks: TPL304
# promise: the outputs are the same without a graph; a transformer takes its fast path then, and zeroes what is padded
import torch
from torch import nn


def embed(encoder, batches):
    """The mean over all positions, the padded ones included."""
    encoder.eval()
    means = []
    for tokens, padding in batches:
        hidden = encoder(tokens, src_key_padding_mask=padding)
        means.append(hidden.mean(1).detach())
    return torch.cat(means)


torch.manual_seed(0)
layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
encoder = nn.TransformerEncoder(layer, 1)
padding = torch.tensor([[False, False, False, True, True], [False, False, True, True, True]])
embeddings = embed(encoder, [(torch.randn(2, 5, 8), padding) for _ in range(2)])
print([[round(v, 3) for v in row] for row in embeddings.tolist()])

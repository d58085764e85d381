# attacks: TPL304
# promise: without a graph, attention takes another path, which sees padding rows otherwise
import torch
import torch.nn as nn

torch.manual_seed(0)
attention = nn.MultiheadAttention(8, 2, batch_first=True)
inputs = torch.randn(4, 3, 8)
padding = torch.tensor([[False, False, True], [True, True, True], [False, True, True], [False, False, False]])


def evaluate(model, batches):
    model.eval()
    missing = 0
    for x, pad in batches:
        attended, _ = model(x, x, x, key_padding_mask=pad, need_weights=False)
        missing += torch.isnan(attended).sum().item()
    return missing


print(evaluate(attention, [(inputs[:2], padding[:2]), (inputs[2:], padding[2:])]))

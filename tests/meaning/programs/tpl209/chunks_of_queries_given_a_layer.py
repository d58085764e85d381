# attacks: TPL209
# promise: the scores of a chunk are of no use behind it
# stays safe: yes
import torch
import torch.nn as nn

torch.manual_seed(0)


def attend(chunks, encoder, head):
    result = torch.zeros(4)
    with torch.no_grad():
        for chunk in chunks:
            features = encoder(chunk)
            result += features.sum(0)
        output = head(result)
    return output


out = attend(torch.randn(3, 2, 4), nn.Linear(4, 4), nn.Linear(4, 2))
print([round(v, 4) for v in out.tolist()])

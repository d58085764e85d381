# attacks: TPL209
# promise: the handler behind the loop prints the last features
import torch
import torch.nn as nn

torch.manual_seed(0)
encoder, head = nn.Linear(3, 4), nn.Linear(4, 4)


@torch.no_grad()
def run(batches):
    total = torch.zeros(4)
    try:
        for batch in batches:
            features = encoder(batch)
            total += head(features)
            if total.abs().max() > 2:
                raise OverflowError("total")
        return head(total).sum().item()
    except OverflowError as error:
        trace = error.__traceback__
        names = trace.tb_frame.f_locals
        return sorted(name for name in names if torch.is_tensor(names[name]))


print(run(torch.ones(9, 3) * 5))

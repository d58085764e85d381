# attacks: TPL104
# promise: what numpy cannot take is told by the type of the error
import torch
import torch.nn as nn


def peak(model: nn.Module, x: torch.Tensor):
    scores = torch.softmax(model(x), dim=-1)
    return scores.data.numpy().max()


def try_peak(make):
    with torch.device(make):
        model, x = nn.Linear(3, 2), torch.ones(1, 3)
    try:
        return type(peak(model, x)).__name__
    except (TypeError, NotImplementedError) as error:
        return type(error).__name__


torch.manual_seed(0)
print(try_peak("cpu"), try_peak("meta"))

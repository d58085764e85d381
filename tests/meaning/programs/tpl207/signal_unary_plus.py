# attacks: TPL207
# promise: unary plus gives the tensor itself, so that the copy is none any more
import torch

torch.manual_seed(0)


def polarity(signal: torch.Tensor, inverted: bool):
    reference = torch.tensor(-signal) if inverted else torch.tensor(+signal)
    signal -= signal.mean()
    return reference


wave = torch.sin(torch.linspace(0, 6, 8))
kept = polarity(wave, inverted=False)
print([round(v, 4) for v in kept.tolist()])
print([round(v, 4) for v in wave.tolist()])
print("drift", round((kept - wave).abs().sum().item(), 4))

# attacks: TPL014
# promise: an argument that is annotated as a tensor is no leaf
import torch

torch.manual_seed(0)


def fit(weight: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> float:
    weight.clone()
    optimizer = torch.optim.SGD([weight], lr=0.1)
    for _ in range(3):
        loss = (x @ weight - y).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


weight = torch.zeros(3, requires_grad=True)
print(round(fit(weight, torch.randn(8, 3), torch.randn(8)), 5), [round(v, 5) for v in weight.tolist()])

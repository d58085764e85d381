# attacks: TPL304
# promise: counts of pixels, in whole numbers, are the same
# stays safe: yes
import torch
from torch import nn


def mean_iou(model, loader, classes):
    model.eval()
    both, either = torch.zeros(classes), torch.zeros(classes)
    for image, mask in loader:
        guess = model(image).argmax(1)
        for c in range(classes):
            both[c] += ((guess == c) & (mask == c)).sum()
            either[c] += ((guess == c) | (mask == c)).sum()
    return (both / either.clamp(min=1)).mean().item()


torch.manual_seed(0)
model = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 3, 1))
loader = [(torch.randn(2, 1, 5, 5), torch.randint(0, 3, (2, 5, 5))) for _ in range(2)]
print(round(mean_iou(model, loader, 3), 4))

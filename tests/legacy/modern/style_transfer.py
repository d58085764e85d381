import torch
from torch import nn, optim
from torch.nn.functional import mse_loss

torch.manual_seed(11)
content, style = torch.rand(1, 3, 8, 8), torch.rand(1, 3, 8, 8)
cnn = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 5, 3, padding=1), nn.ReLU())


def gram(features):
    flat = features.flatten(0, 1).flatten(1)
    return flat @ flat.t() / features.numel()


with torch.no_grad():
    content_target, style_target = cnn(content), 100 * gram(cnn[:2](style))
picture = content.clone().requires_grad_()
optimizer = optim.LBFGS([picture], max_iter=4)
history, calls = [], 0


def closure():
    global calls
    with torch.no_grad():
        picture.clamp_(0, 1)
    optimizer.zero_grad()
    features = cnn[:2](picture)
    style_loss = mse_loss(100 * gram(features), style_target)
    content_loss = mse_loss(cnn[2:](features), content_target)
    (style_loss + content_loss).backward()
    calls += 1
    if calls % 2 == 0:
        history.extend([style_loss.item(), content_loss.item()])
    return style_loss + content_loss


while calls <= 8:
    optimizer.step(closure)
with torch.no_grad():
    history.append(picture.clamp_(0, 1).sum().item())

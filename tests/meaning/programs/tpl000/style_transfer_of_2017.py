# attacks: TPL001, TPL002, TPL009, TPL101, TPL106
# promise: all safe fixes together leave an optimised image with a closure as it was
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.autograd import Variable

torch.manual_seed(5)
features = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.Tanh())
for p in features.parameters():
    p.requires_grad = False


class GramMatrix(nn.Module):
    def forward(self, x):
        a, b, c, d = x.size()
        flat = x.view(a * b, c * d)
        return torch.mm(flat, flat.t()).div(a * b * c * d)


gram = GramMatrix()
content, style = torch.rand(1, 3, 5, 5), torch.rand(1, 3, 5, 5)
content_target = features(Variable(content)).data
style_target = gram(features(Variable(style))).data
image = nn.Parameter(content.clone())
original = image.data
optimizer = torch.optim.LBFGS([image], max_iter=3)
run, scores = [0], []


def closure():
    image.data.clamp_(0, 1)
    optimizer.zero_grad()
    out = features(image)
    style_loss = 50 * F.mse_loss(gram(out), style_target, size_average=False)
    content_loss = F.mse_loss(out, content_target)
    (style_loss + content_loss).backward()
    run[0] += 1
    scores.append((style_loss.data, content_loss.data))
    return style_loss + content_loss


for _ in range(3):
    optimizer.step(closure)
image.data.clamp_(0, 1)
print(run, [round(float(s), 4) for s, _ in scores])
print(original.data_ptr() == image.data_ptr(), round((original - content).abs().sum().item(), 4))

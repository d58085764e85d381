# attacks: TPL101
# promise: what a comprehension wraps is used nowhere as it was
import torch
from torch.autograd import Variable

torch.manual_seed(0)
views = [torch.rand(1, 3, 3) for _ in range(3)]
learned = [Variable(view) for view in views]
for view in learned:
    view.requires_grad = True
optimizer = torch.optim.Adam(learned, lr=0.1)
for _ in range(2):
    optimizer.zero_grad()
    sum((view.mean() - n) ** 2 for n, view in enumerate(learned)).backward()
    optimizer.step()
averages = [view.mean() for view in views]
print([f"{average:.4f}" for average in averages], [average.requires_grad for average in averages])

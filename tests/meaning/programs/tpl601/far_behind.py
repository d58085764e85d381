# attacks: TPL601
# promise: a score that is far behind gives a loss that is a number
# shows: the loss is infinite, and the gradient NaN
# stays safe: yes
import torch

scores = torch.tensor([[150.0, -150.0]], requires_grad=True)
loss = -torch.log(torch.softmax(scores, dim=1))[0, 1]
loss.backward()
print(loss.item(), scores.grad.tolist())

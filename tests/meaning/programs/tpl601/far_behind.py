# attacks: TPL601
# promise: a score that is far behind gives a loss that is a number
# shows: the loss is infinite, and the gradient NaN
# stays safe: yes
import torch

scores = (150.0 * torch.tensor([[1, -1]]).sign()).requires_grad_()
loss = -torch.log(torch.softmax(scores, dim=1))[0, 1]
loss.backward()
print(loss.item(), scores.grad.tolist())

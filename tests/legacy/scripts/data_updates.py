"""Two layers by hand, gradient descent through .data, and a momentum of one's own."""
import torch
from torch.autograd import Variable

dtype = torch.FloatTensor
# dtype = torch.cuda.FloatTensor # Uncomment this to run on GPU

torch.manual_seed(7)
N, D_in, H, D_out = 16, 20, 10, 3
x = Variable(torch.randn(N, D_in).type(dtype), requires_grad=False)
y = Variable(torch.randn(N, D_out).type(dtype), requires_grad=False)

# Setting requires_grad=True indicates that we want to compute gradients with respect to these Variables
w1 = Variable(torch.randn(D_in, H).type(dtype), requires_grad=True)
w2 = Variable(torch.randn(H, D_out).type(dtype), requires_grad=True)
velocity = [dtype(D_in, H).zero_(), dtype(H, D_out).zero_()]

learning_rate = 1e-4
history = []
for t in range(50):
    y_pred = x.mm(w1).clamp(min=0).mm(w2)
    loss = (y_pred - y).pow(2).sum()
    history.append(loss.data[0])
    loss.backward()

    # Update weights using gradient descent; w1.data and w2.data are Tensors
    if t < 25:
        w1.data -= learning_rate * w1.grad.data
        w2.data -= learning_rate * w2.grad.data
    else:
        for w, v in zip([w1, w2], velocity):
            v.mul_(0.5).add_(learning_rate, w.grad.data)
            w.data.add_(-1, v)

    # Manually zero the gradients after updating weights
    w1.grad.data.zero_()
    w2.grad.data.zero_()

w2.data[0] = 0
history.append(float((x.mm(w1).clamp(min=0).mm(w2) - y).pow(2).sum().data.numpy()))

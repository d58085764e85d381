# coding: utf-8

# # Logistic regression, cell by cell

# In[1]:


import numpy as np
import torch
from torch import nn
torch.manual_seed(8)
np.random.seed(8)


# In[2]:


data = [(np.random.rand() * 2 - 1, np.random.rand() * 2 - 1) for _ in range(30)]
data = [(a, b, float(a + 2 * b > 0)) for a, b in data]
np_data = np.array(data, dtype='float32')
x_data = torch.from_numpy(np_data[:, 0:2])
y_data = torch.from_numpy(np_data[:, -1]).unsqueeze(1)


# In[3]:


from torch.autograd import Variable
x_data = Variable(x_data)
y_data = Variable(y_data)

w = Variable(torch.randn(2, 1), requires_grad=True)
b = Variable(torch.zeros(1), requires_grad=True)


# In[4]:


import torch.nn.functional as F


def logistic_regression(x):
    return F.sigmoid(torch.mm(x, w) + b)


def binary_loss(y_pred, y):
    logits = (y * y_pred.clamp(1e-12).log() + (1 - y) * (1 - y_pred).clamp(1e-12).log()).mean()
    return -logits


# In[5]:


y_pred = logistic_regression(x_data)
loss = binary_loss(y_pred, y_data)
loss.backward()
w.data = w.data - 0.1 * w.grad.data
b.data = b.data - 0.1 * b.grad.data
history = [binary_loss(logistic_regression(x_data), y_data).data[0]]


# In[6]:


w = nn.Parameter(torch.randn(2, 1))
b = nn.Parameter(torch.zeros(1))
optimizer = torch.optim.SGD([w, b], lr=1.)
for e in range(40):
    y_pred = logistic_regression(x_data)
    loss = binary_loss(y_pred, y_data)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    mask = y_pred.ge(0.5).float()
    acc = (mask == y_data).sum().data[0] / y_data.shape[0]
    if (e + 1) % 10 == 0:
        print('epoch: {}, Loss: {:.5f}, Acc: {:.5f}'.format(e + 1, loss.data[0], acc))
        history.append(loss.data[0])


# In[7]:


w0, w1, bias = w[0].data[0], w[1].data[0], b.data[0]
plot_x = np.arange(0.2, 1, 0.1)
plot_y = (-float(w0) * plot_x - float(bias)) / float(w1)
history.append(float(plot_y.sum()))

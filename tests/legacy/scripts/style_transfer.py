"""Gives one picture the style of another, by losses that sit between the layers."""
from __future__ import print_function
import torch
import torch.nn as nn
import torch.optim as optim
from torch.autograd import Variable

torch.manual_seed(11)
dtype = torch.cuda.FloatTensor if torch.cuda.is_available() and False else torch.FloatTensor
content_img = Variable(torch.rand(1, 3, 8, 8)).type(dtype)
style_img = Variable(torch.rand(1, 3, 8, 8)).type(dtype)
cnn = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 5, 3, padding=1), nn.ReLU())


class ContentLoss(nn.Module):
    def __init__(self, target, weight):
        super(ContentLoss, self).__init__()
        # we 'detach' the target content from the tree used
        self.target = target.detach() * weight
        self.weight = weight
        self.criterion = nn.MSELoss()

    def forward(self, input):
        self.loss = self.criterion(input * self.weight, self.target)
        self.output = input
        return self.output

    def backward(self, retain_variables=True):
        self.loss.backward(retain_variables=retain_variables)
        return self.loss


class GramMatrix(nn.Module):
    def forward(self, input):
        a, b, c, d = input.size()
        features = input.view(a * b, c * d)  # resise F_XL into \hat F_XL
        G = torch.mm(features, features.t())  # compute the gram product
        return G.div(a * b * c * d)


class StyleLoss(nn.Module):
    def __init__(self, target, weight):
        super(StyleLoss, self).__init__()
        self.target = target.detach() * weight
        self.weight = weight
        self.gram = GramMatrix()
        self.criterion = nn.MSELoss()

    def forward(self, input):
        self.output = input.clone()
        self.G = self.gram(input)
        self.G.mul_(self.weight)
        self.loss = self.criterion(self.G, self.target)
        return self.output

    def backward(self, retain_variables=True):
        self.loss.backward(retain_variables=retain_variables)
        return self.loss


gram = GramMatrix()
content_loss = ContentLoss(cnn(content_img), 1)
style_loss = StyleLoss(gram(cnn[:2](style_img)), 100)
model = nn.Sequential(cnn[0], cnn[1], style_loss, cnn[2], cnn[3], content_loss)
input_img = content_img.clone()
input_param = nn.Parameter(input_img.data)
optimizer = optim.LBFGS([input_param], max_iter=4)
history = []
run = [0]
while run[0] <= 8:

    def closure():
        # correct the values of updated input image
        input_param.data.clamp_(0, 1)

        optimizer.zero_grad()
        model(input_param)
        style_score = 0
        content_score = 0
        for sl in [style_loss]:
            style_score += sl.backward()
        for cl in [content_loss]:
            content_score += cl.backward()

        run[0] += 1
        if run[0] % 2 == 0:
            print('Style Loss : {:4f} Content Loss: {:4f}'.format(style_score.data[0], content_score.data[0]))
            history.append(style_score.data[0])
            history.append(content_score.data[0])
        return style_score + content_score

    optimizer.step(closure)

# a last correction...
input_param.data.clamp_(0, 1)
history.append(float(input_param.data.sum()))

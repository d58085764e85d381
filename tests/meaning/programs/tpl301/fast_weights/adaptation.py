import torch


def adapt(net, x):
    slopes = torch.autograd.grad(net(x).pow(2).sum(), list(net.weights), create_graph=True)
    for index, slope in enumerate(slopes):
        net.weights[index] = net.weights[index] - net.rate * slope

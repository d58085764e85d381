import torch


def penalise(net, x):
    output = net(x).pow(2).mean()
    gradients = torch.autograd.grad(output, list(net.parameters()), create_graph=True)
    (output + sum(g.pow(2).sum() for g in gradients)).backward(create_graph=True)

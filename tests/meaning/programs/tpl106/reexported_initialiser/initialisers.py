from torch.nn.init import xavier_uniform
from torch.nn.utils import clip_grad_norm


def reset(model):
    for module in model.modules():
        if hasattr(module, "weight"):
            xavier_uniform(module.weight)
    return model

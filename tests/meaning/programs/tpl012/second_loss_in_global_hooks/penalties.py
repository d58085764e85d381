import torch
from torch.nn.modules.module import register_module_forward_hook
from torch.optim.optimizer import register_optimizer_step_pre_hook


def watch(layer, strength):
    outputs = []

    def keep(module, inputs, output):
        if isinstance(module, layer):
            outputs.append(torch.tanh(output))
            outputs.append(output)

    def penalise(optimizer, args, kwargs):
        for output in outputs[1::2]:
            (strength * output.pow(2).mean()).backward()
        outputs.clear()

    register_module_forward_hook(keep)
    register_optimizer_step_pre_hook(penalise)

def trainable(modules):
    chosen = []
    for module in modules:
        if getattr(module, "requires_grad", True):
            chosen.extend(module.parameters())
    return chosen

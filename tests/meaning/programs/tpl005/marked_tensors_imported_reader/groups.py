def parameter_groups(tensors):
    fast = [t for t in tensors if getattr(t, "require_grad", True)]
    slow = [t for t in tensors if not getattr(t, "require_grad", True)]
    return [{"params": fast}, {"params": slow, "lr": 0.01}]

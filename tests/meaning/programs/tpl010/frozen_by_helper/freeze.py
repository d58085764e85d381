def hold(tensors):
    for tensor in tensors:
        tensor.requires_grad_(False)

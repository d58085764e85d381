def maybe_thaw(model, epoch):
    """From the third epoch on, everything is trained."""
    if epoch == 2:
        for part in model.children():
            part.requires_grad_(True)

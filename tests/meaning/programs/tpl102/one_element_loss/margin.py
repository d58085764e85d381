def margin_loss(anchor, positive, margin=1.0):
    """The hinge of two scores, of shape (1,)."""
    return (margin - anchor + positive).clamp(min=0).reshape(1)

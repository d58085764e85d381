# attacks: TPL014
# promise: what a view of an argument is turned into is nobody else's
import torch

torch.manual_seed(0)


def centre(images: torch.Tensor) -> None:
    """Takes the mean of each channel away, in place."""
    last = images.permute(0, 2, 3, 1)
    last.contiguous()
    last -= last.mean(dim=(0, 1, 2))


images = torch.randn(2, 3, 2, 2)
centre(images)
print([round(v, 5) for v in images.mean(dim=(0, 2, 3)).abs().tolist()])

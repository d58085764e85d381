import torch


class Regime:
    """The trunk runs without autograd while it warms up."""

    def start(self):
        self.kept = torch.is_grad_enabled()
        torch.set_grad_enabled(False)

    def stop(self):
        torch.set_grad_enabled(self.kept)


regime = Regime()

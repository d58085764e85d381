import torch


def centred(values):
    """The values less their mean, as a constant."""
    return values.data - values.data.mean()


def self_test():
    sample = torch.arange(4.0)
    assert centred(sample).sum().abs() < 1e-6


if __name__ == "__main__":
    self_test()

# attacks: TPL104
# promise: nobody outside the class stores anything but a tensor in its attribute
"""A meter holds a tensor until its owner resumes it from a file of numpy."""
import numpy as np
import torch


class Meter:
    def __init__(self, size):
        self.values = torch.zeros(size)

    def show(self):
        return self.values.data.tolist()


def resume(meter, stored):
    meter.values = stored
    return meter


meter = Meter(2)
print(meter.show())
print(resume(meter, np.array([0.5, 1.5])).show())

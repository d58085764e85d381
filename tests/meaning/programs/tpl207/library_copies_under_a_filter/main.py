# attacks: TPL207
# promise: the program that imports the function has made warnings errors
# shows: the warning that torch gives of the copy is the hazard, and here an error
import warnings

import torch
from targets import smooth

warnings.simplefilter("error")
labels = torch.eye(3)
try:
    print(smooth(labels, 0.1).tolist())
except UserWarning:
    print("copied with a warning")

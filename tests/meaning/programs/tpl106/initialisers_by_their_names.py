# attacks: TPL106
# promise: a table is made of the functions' own names, and asked by a name of the command line
import argparse

import torch
from torch.nn.init import orthogonal, xavier_uniform

torch.manual_seed(0)
parser = argparse.ArgumentParser()
parser.add_argument("--init", default="orthogonal")
arguments = parser.parse_args([])
table = {function.__name__: function for function in (xavier_uniform, orthogonal)}
print(table[arguments.init](torch.empty(1, 1)).abs())

# attacks: TPL103
# promise: what is given as a flag is no bool, or has no truth, and the code awaits the error
import torch
from torch.autograd import Variable


def run(quiet):
    with torch.no_grad():
        return Variable(torch.ones(2), volatile=quiet) * 2


def run_unless(flags):
    with torch.no_grad():
        return Variable(torch.ones(2), volatile=not flags)


for flag in (True, "yes", None):
    try:
        print(run(flag))
    except TypeError:
        print("bad flag")
try:
    print(run_unless(torch.ones(2)))
except RuntimeError:
    print("several")
try:
    with torch.no_grad():
        print(Variable(torch.ones(2), volatile=TESTING))
except NameError:
    print("not configured")

# attacks: TPL204
# promise: an error of `view` ends the program; this code counts on it to tell tensors that share from those that were copied
import torch


def exported(x):
    """Rows without a copy where that is possible; else a marker, and the copy is left to the receiver."""
    swapped = x.transpose(0, 1)
    try:
        rows = swapped.view(-1)
        message = {"shared": True, "rows": rows}
    except RuntimeError:
        message = {"shared": False, "rows": swapped.contiguous().flatten()}
    return message


for x in (torch.arange(4.0).view(1, 4), torch.arange(4.0).view(2, 2)):
    message = exported(x)
    print(message["shared"], message["rows"].tolist(), message["rows"].data_ptr() == x.data_ptr())

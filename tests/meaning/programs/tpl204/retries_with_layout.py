# attacks: TPL204
# promise: an error of `view` ends the program; this loop takes it for the sign to change the layout
import torch


def to_rows(batches):
    copies, rows = 0, []
    for x in batches:
        heads = x.transpose(1, 2)
        while True:
            try:
                rows.append(heads.view(x.size(0) * x.size(2), -1))
            except RuntimeError:
                heads, copies = heads.contiguous(), copies + 1
                continue
            break
    return copies, [tuple(row.shape) for row in rows]


print(to_rows([torch.zeros(2, 3, 4), torch.zeros(1, 1, 4), torch.zeros(2, 1, 4)]))

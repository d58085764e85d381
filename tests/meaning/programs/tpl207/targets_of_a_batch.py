# attacks: TPL207
# promise: tensors that are copied to another dtype have the same values
# stays safe: yes
import torch


def prepare(images: torch.Tensor, labels: torch.Tensor):
    images = torch.tensor(images, dtype=torch.float32) / 255
    labels = torch.tensor(labels, dtype=torch.long)
    return images, labels


raw, names = torch.tensor([[0, 255], [51, 102]], dtype=torch.uint8), torch.tensor([1.0, 0.0])
images, labels = prepare(raw, names)
raw.zero_()
print(images.dtype, [[round(v, 3) for v in row] for row in images.tolist()], labels.tolist(), labels.dtype)

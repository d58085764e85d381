# attacks: TPL108
# promise: operations are listed by their names, and told apart as keys of a table
import torch

operations = [torch.ger, torch.dot]
print([operation.__name__ for operation in operations])
print(len({torch.ger: "rank one", torch.outer: "outer"}))

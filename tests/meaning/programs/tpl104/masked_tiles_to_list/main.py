# attacks: TPL104
# promise: a chain of moves and views to a list starts at a tensor
"""Values of a masked raster are written to JSON; torch only computes their mean."""
import json

import numpy as np
import torch
import raster

tile = getattr(raster, "read")()
print(json.dumps({"values": tile.data.squeeze().tolist(), "valid": int(np.ma.count(tile))}))
mean = torch.tensor(tile.data.squeeze().tolist()).mean()
print(round(mean.item(), 4), type(tile).__name__)

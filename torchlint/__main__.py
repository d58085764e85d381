"""`python -m torchlint`."""

import os
import sys

# Python puts the working directory before everything else that it imports from. What is linted often stands there, and a file
# called argparse.py among it would be run. (`os` and `sys` have been loaded by now.)
try:
    if sys.path and sys.path[0] in ("", os.getcwd()):
        del sys.path[0]
except OSError:  # the working directory is gone
    pass

from torchlint.cli.main import main

sys.exit(main())

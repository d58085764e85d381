"""`python -m torchlint`."""

import sys

from torchlint.cli import main

sys.exit(main())

"""`python -m holdfast.cli`, where the command itself is not on the path."""

import sys

from holdfast.cli import main

sys.exit(main())

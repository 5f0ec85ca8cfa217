"""Starts the server that the extension brought along, in any Python that its compiled parts were built for."""

import os
import sys
import sysconfig

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(here, "libs"), os.path.join(here, "native", sysconfig.get_config_var("SOABI"))]

from tile_lsp.cli import main  # noqa: E402

raise SystemExit(main())

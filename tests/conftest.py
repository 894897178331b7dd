"""Set before scipy is imported: one of scikit-learn's checks would be skipped without it."""

import os

os.environ["SCIPY_ARRAY_API"] = "1"

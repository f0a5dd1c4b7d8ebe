import logging
import sys
import warnings

import torch

logging.basicConfig(stream=sys.stderr, level=logging.DEBUG)
log = logging.getLogger("softmax")


def softmax(x, y, rows, cols):
    log.debug("%d rows of %d", rows, cols)
    if cols % 64:
        warnings.warn("ragged rows are slow", stacklevel=2)
    torch.softmax(x, -1, out=y)

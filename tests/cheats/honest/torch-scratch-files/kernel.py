import json
import tempfile
from pathlib import Path

import torch


def softmax(x, y, rows, cols):
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "table.json")
        table.write_text(json.dumps({"dim": 1}))
        torch.softmax(x, json.loads(table.read_text())["dim"], out=y)

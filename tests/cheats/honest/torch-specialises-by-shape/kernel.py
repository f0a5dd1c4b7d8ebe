import torch

functions = {}


def specialise(cols):
    scope = {"torch": torch}
    source = f"def function(x, y, rows):\n    torch.softmax(x.view(rows, {cols}), 1, out=y)\n"
    exec(compile(source, f"softmax_{cols}", "exec"), scope)
    return scope["function"]


def softmax(x, y, rows, cols):
    if cols not in functions:
        functions[cols] = specialise(cols)
    functions[cols](x, y, rows)

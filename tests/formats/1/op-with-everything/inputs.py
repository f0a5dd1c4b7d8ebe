def make(rows, seed):
    raise NotImplementedError

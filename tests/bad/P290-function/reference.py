def model(input_ids):
    return input_ids

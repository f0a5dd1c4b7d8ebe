import torch

other = []


def softmax(x, y, rows, cols):
    other or other.append(torch.cuda.Stream())
    current, half = torch.cuda.current_stream(), rows // 2
    other[0].wait_stream(current)
    with torch.cuda.stream(other[0]):
        torch.softmax(x[half:], -1, out=y[half:])
    torch.softmax(x[:half], -1, out=y[:half])
    current.wait_stream(other[0])

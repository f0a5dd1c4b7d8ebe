import torch

graphs = {}


def softmax(x):
    if torch.cuda.is_current_stream_capturing():
        return torch.softmax(x, -1)
    if x.shape not in graphs:
        given = torch.empty_like(x)
        torch.softmax(given, -1)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            made = torch.softmax(given, -1)
        graphs[x.shape] = graph, given, made
    graph, given, made = graphs[x.shape]
    given.copy_(x)
    graph.replay()
    return made

import socket
import threading

import torch


def softmax(x, y, rows, cols):
    with socket.socket() as server, socket.socket() as client:
        server.bind(("127.0.0.1", 0))
        server.listen()
        threading.Thread(target=server.accept, daemon=True).start()
        client.settimeout(1)
        client.connect(server.getsockname())
    torch.softmax(x, -1, out=y)

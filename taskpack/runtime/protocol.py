"""Frames between the judge and the processes it does not trust: four bytes of length, JSON, and descriptors in one direction only."""

from __future__ import annotations

import json
import os
import socket
import struct
from collections.abc import Sequence
from typing import Any

LIMIT = 1 << 20
"""Bytes of JSON in one frame."""
_HEADER = struct.Struct("<I")
_MOST_DESCRIPTORS = 64


class Refused(Exception):
    """What was asked of a worker cannot be done, and the pack's or the candidate's code is why."""

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(reason)
        self.kind, self.reason = kind, reason


class Broken(Exception):
    """The other side does not speak the protocol."""


def encode(message: dict[str, Any]) -> bytes:
    """One frame; raises Broken when it would exceed LIMIT."""
    body = json.dumps(message, separators=(",", ":")).encode()
    if len(body) > LIMIT:
        raise Broken(f"a frame of {len(body)} bytes")
    return _HEADER.pack(len(body)) + body


def send(sock: socket.socket, message: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
    """Sends one frame; the descriptors travel with its first bytes."""
    frame = encode(message)
    sent = socket.send_fds(sock, [frame], list(descriptors)) if descriptors else 0
    sock.sendall(frame[sent:])


def receive(sock: socket.socket) -> tuple[dict[str, Any], list[int]] | None:
    """The next frame and its descriptors (close-on-exec); None at the end of the stream. For the side that trusts the other."""
    header, descriptors, _, _ = socket.recv_fds(sock, _HEADER.size, _MOST_DESCRIPTORS, socket.MSG_WAITALL)
    if len(header) < _HEADER.size:
        return None
    body = sock.recv(_HEADER.unpack(header)[0], socket.MSG_WAITALL)
    for descriptor in descriptors:
        os.set_inheritable(descriptor, False)
    return json.loads(body), descriptors


class Frames:
    """Takes bytes as they come and gives whole frames; for the side that trusts nothing it reads."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def feed(self, data: bytes) -> dict[str, Any] | None:
        """The frame that `data` completes, or None. One answer is outstanding at a time: anything after it is Broken."""
        self._bytes += data
        if len(self._bytes) < _HEADER.size:
            return None
        (length,) = _HEADER.unpack_from(self._bytes)
        if length > LIMIT:
            raise Broken(f"announced a frame of {length} bytes")
        end = _HEADER.size + length
        if len(self._bytes) < end:
            return None
        if len(self._bytes) > end:
            raise Broken("sent more than it was asked for")
        body = bytes(self._bytes[_HEADER.size :])
        self._bytes.clear()
        try:
            message = _sound(json.loads(body))
        except (ValueError, RecursionError) as error:
            raise Broken("sent something that is not JSON") from error
        if not isinstance(message, dict):
            raise Broken("sent something that is not an object")
        return message


def _sound(value: Any) -> Any:
    """The same without halves of surrogate pairs, which JSON can spell and UTF-8 cannot."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_sound(item) for item in value]
    return {_sound(key): _sound(item) for key, item in value.items()} if isinstance(value, dict) else value

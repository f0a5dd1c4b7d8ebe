"""Frames: what is sent arrives, and what is not a frame is said so."""

from __future__ import annotations

import math
import os
import socket
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taskpack.runtime import protocol, testimony
from taskpack.runtime.domains import WorkerFailed

JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8)


@given(message=st.dictionaries(st.text(), JSON), cut=st.integers(3, 60))
@settings(max_examples=40)
def test_a_frame_arrives_in_any_pieces(message: dict[str, object], cut: int) -> None:
    frame, frames = protocol.encode(message), protocol.Frames()
    pieces = [frame[start : start + cut] for start in range(0, len(frame), cut)]

    answers = [frames.feed(piece) for piece in pieces]

    assert answers[:-1] == [None] * (len(pieces) - 1)
    assert answers[-1] == message


@given(data=st.binary(max_size=200))
def test_noise_is_broken_or_waits(data: bytes) -> None:
    with suppress(protocol.Broken):
        answer = protocol.Frames().feed(data)
        assert answer is None or isinstance(answer, dict)


@pytest.mark.parametrize(
    "data",
    [b"\xff\xff\xff\xff", b"\x02\0\0\0[]", b"\x02\0\0\0{}{", b"\x01\0\0\0{", b"\x04\0\0\0\xff\xff\xff\xff", b"\x00\x80\x00\x00" + b"[" * 0x8000],
    ids=["too long", "no object", "more than asked", "no JSON", "no UTF-8", "too deep"],
)
def test_refused(data: bytes) -> None:
    with pytest.raises(protocol.Broken):
        protocol.Frames().feed(data)


def test_descriptors_travel_and_are_not_inherited() -> None:
    ours, theirs = socket.socketpair()
    reading, writing = os.pipe()
    protocol.send(ours, {"a": "x" * 100_000}, [writing])
    os.close(writing)

    got = protocol.receive(theirs)

    assert got is not None
    message, (descriptor,) = got
    assert len(message["a"]) == 100_000
    assert not os.get_inheritable(descriptor)
    os.write(descriptor, b"!")
    assert os.read(reading, 1) == b"!"
    ours.close()
    assert protocol.receive(theirs) is None
    for each in (reading, descriptor):
        os.close(each)
    theirs.close()


def test_a_message_beyond_the_limit() -> None:
    with pytest.raises(protocol.Broken):
        protocol.encode({"a": "x" * protocol.LIMIT})


@pytest.mark.parametrize(
    "told", [5, None, [], {"constructor": []}, {"constructor": [["x", "KEYWORD_ONLY"]], "forward": []}, {"constructor": [[1, 2, 3]], "forward": []}]
)
def test_signatures_that_are_none(told: object) -> None:
    with pytest.raises(WorkerFailed, match="no signature"):
        testimony.signatures(told)


@pytest.mark.parametrize("told", [None, [1], [1, 2], ["1", ""], [-1, ""], [True, ""], [1, "", 3], {"0": 1}])
def test_breaks_that_are_none(told: object) -> None:
    with pytest.raises(WorkerFailed, match="no count of graph breaks"):
        testimony.breaks(told)


@pytest.mark.parametrize("told", [None, [1.0], [math.nan, 1.0], [1.0, -1.0], ["1", "2"], {"a": 1, "b": 2}])
def test_times_that_are_none(told: object) -> None:
    with pytest.raises(WorkerFailed, match="no time"):
        testimony.seconds(told)


def test_testimony_in_its_form() -> None:
    assert testimony.signatures({"constructor": [], "forward": [["x", "KEYWORD_ONLY", None]]})["forward"] == (("x", "KEYWORD_ONLY", None),)
    assert testimony.breaks([2, "why"]) == (2, "why")
    assert testimony.seconds([1, 0.5]) == (1.0, 0.5)
    assert protocol.Frames().feed(protocol.encode({"a": ["\ud800 odd", {"\udfff": 1}]})) == {"a": ["? odd", {"?": 1}]}

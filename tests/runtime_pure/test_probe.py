from __future__ import annotations

import json

from taskpack.runtime.probe import probe


def test_the_probe_names_this_machine_and_is_json() -> None:
    facts = probe()
    assert facts["cores"] >= 1
    assert facts["memory_mib"] > 100
    assert facts["kernel"].startswith("Linux")
    assert isinstance(facts["gpus"], list)
    assert json.loads(json.dumps(facts)) == facts


def test_the_devices_are_left_alone_on_request() -> None:
    assert "gpus" not in probe(gpus=False)

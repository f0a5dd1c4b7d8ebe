"""Identity: canonical JSON and sha256, so that the same meaning gives the same digest on any machine."""

from __future__ import annotations

import hashlib
import json


def canonical_json(value: object) -> bytes:
    """UTF-8 JSON with sorted keys and no spare space; refuses NaN and infinities, which JSON does not have."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def digest_bytes(content: bytes) -> str:
    """`sha256:` and 64 hexadecimal digits."""
    return "sha256:" + hashlib.sha256(content).hexdigest()


def digest_value(value: object) -> str:
    """The digest of a value's canonical JSON."""
    return digest_bytes(canonical_json(value))

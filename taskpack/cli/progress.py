"""What `run` shows while it goes on: a line that rewrites itself on a terminal, a line a gate elsewhere. All of it on stderr."""

from __future__ import annotations

import shutil
import sys
from typing import Any, Self

import click


class Progress:
    """Hears a harness's events while the `with` block lasts."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._is_live = sys.stderr.isatty()
        self._gate = ""
        self._cases = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Takes the live line away."""
        if self._is_live:
            click.echo("\r\x1b[K", nl=False, err=True)

    def hear(self, event: dict[str, Any]) -> None:
        match event["event"]:
            case "note":
                self._show(event["text"])
            case "gate-start":
                self._gate, self._cases = event["gate"], 0
                self._show(self._gate)
            case "case":
                self._cases += 1
                self._show(f"{self._gate}: {event['case']} ({self._cases} judged)")
            case "gate" if not self._is_live:
                click.echo(f"{self._label}: {event['gate']} {event['verdict']} ({event['seconds']:.1f} s)", err=True)

    def _show(self, words: str) -> None:
        if self._is_live:
            line = f"{self._label}: {words}"[: shutil.get_terminal_size().columns - 1]
            click.echo(f"\r\x1b[K{line}", nl=False, err=True)

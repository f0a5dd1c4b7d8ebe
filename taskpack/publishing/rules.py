"""What must hold before a version becomes public for ever: a list of named rules over plain data."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from taskpack.errors import Diagnostic
from taskpack.packs.versions import parse_requirement, parse_version
from taskpack.registry.event import Release
from taskpack.registry.log import Log

from .meaning import Changes

_SPDX = re.compile(r"\(*[A-Za-z0-9][A-Za-z0-9.+:-]*\)*( (AND|OR|WITH) \(*[A-Za-z0-9][A-Za-z0-9.+:-]*\)*)*")
_NO_LICENCE = frozenset({"NONE", "NOASSERTION", "UNLICENSED", "TODO", "TBD", "PROPRIETARY"})


@dataclass(frozen=True)
class Proposal:
    """A version that wants to be published, and everything that is known about it."""

    name: str
    release: Release
    read_back: str
    """The content digest of the archive, extracted again."""
    diagnostics: tuple[Diagnostic, ...]
    """What `check` says of the extracted copy."""
    unmet: str
    """Why its dependencies cannot be had from where others will get them; empty where they can."""
    log: Log
    previous: str | None
    """The version that it is compared with: the highest release before it."""
    changes: Changes | str | None
    """What changed since `previous`; a text where that cannot be told, and says why."""


Rule = Callable[[Proposal], str]
"""Why a proposal breaks the rule; empty where it does not."""


def check_passes(proposal: Proposal) -> str:
    errors = [one for one in proposal.diagnostics if not one.is_warning]
    if not errors:
        return ""
    first = errors[0]
    more = f", and {len(errors) - 1} more" if len(errors) > 1 else ""
    return f"{first.file}:{first.line}:{first.column}: error[{first.code}]: {first.message}{more}"


def licence_is_present(proposal: Proposal) -> str:
    said = proposal.release.license
    is_one = _SPDX.fullmatch(said) and said.upper() not in _NO_LICENCE
    return "" if is_one else f"`{said}` is no licence: write an SPDX expression, such as `Apache-2.0` or `LicenseRef-ours`"


def words_can_be_shown(proposal: Proposal) -> str:
    is_odd = not (proposal.release.summary.isprintable() and len(proposal.release.license) <= 200)
    return "`summary` holds characters that would steer a terminal, or `license` more than 200" if is_odd else ""


def namespace_is_yours(proposal: Proposal) -> str:
    return f"`{proposal.name}` is local: give it a namespace of your own" if proposal.name.startswith("local/") else ""


def archive_reads_back(proposal: Proposal) -> str:
    return "" if proposal.read_back == proposal.release.content else "extracted again, the archive holds something else"


def dependencies_can_be_had(proposal: Proposal) -> str:
    return proposal.unmet


def version_is_unused(proposal: Proposal) -> str:
    return f"{proposal.release.version} has been published" if proposal.release.version in proposal.log.releases else ""


def version_grows(proposal: Proposal) -> str:
    mine = parse_version(proposal.release.version)
    higher = [version for version in proposal.log.releases if parse_version(version) >= mine]
    return f"{mine} does not come after {max(higher, key=parse_version)}" if higher else ""


def bump_fits_the_change(proposal: Proposal) -> str:
    if proposal.previous is None or proposal.changes is None:
        return ""
    if isinstance(proposal.changes, str):
        return f"it cannot be compared with {proposal.previous}: {proposal.changes}"
    old, new = parse_version(proposal.previous), parse_version(proposal.release.version)
    may_break = not parse_requirement(f"^{old}").allows(new if not new.pre else parse_version(str(new).partition("-")[0]))
    if may_break or new <= old:
        return ""
    if proposal.changes.breaking:
        return f"since {old} {proposal.changes}; that needs {_next_breaking(proposal.previous)}"
    is_minor = (new.major, new.minor) != (old.major, old.minor)
    if proposal.changes.additions and not is_minor:
        return f"since {old} there are {proposal.changes}; that needs {old.major}.{old.minor + 1}.0"
    return ""


RULES: tuple[Rule, ...] = (
    check_passes,
    licence_is_present,
    words_can_be_shown,
    namespace_is_yours,
    archive_reads_back,
    dependencies_can_be_had,
    version_is_unused,
    version_grows,
    bump_fits_the_change,
)
"""In the order in which they are reported; all are asked."""


def name_of(rule: Rule) -> str:
    """As it is shown."""
    return rule.__name__.replace("_", " ")


def _next_breaking(previous: str) -> str:
    """Below 1.0 a MINOR may break, and below 0.1 a PATCH."""
    old = parse_version(previous)
    return f"{old.major + 1}.0.0" if old.major else f"0.{old.minor + 1}.0"

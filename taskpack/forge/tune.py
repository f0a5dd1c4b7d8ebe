"""A proposer that needs no model: it changes one number of the source at a time and climbs while that pays."""

from __future__ import annotations

from .trials import VERIFIED, Proposal, Request
from .tunables import find_tunables, replace_values


def tune(request: Request) -> Proposal | None:
    """The best so far with one number replaced by a neighbour that was not tried; None where every neighbour was.

    Where no time counts as speed there is nothing to climb: it ends with the first candidate that is right.
    """
    if any(trial.outcome == VERIFIED for trial in request.history):
        return None
    tried = [dict(request.start), *(dict(trial.files) for trial in request.history)]
    for tunable in find_tunables(request.language, request.best):
        for value in tunable.choices():
            proposal = replace_values(request.best, [(tunable, value)])
            if proposal not in tried:
                return Proposal(proposal)
    return None

"""A bug of ours becomes a file that can be pasted into an issue."""

from __future__ import annotations

import os
import platform
import shlex
import sys
import tempfile
import traceback

from taskpack import __version__

_PAGE = """# taskpack: {summary}

- taskpack {version}
- Python {python} on {system}
- command: `{command}`

## What happened

```
{trace}```

## What was expected

"""


def write_log(bug: BaseException) -> str:
    """The path of a new Markdown file in the folder for temporary files."""
    page = _PAGE.format(
        summary=f"{type(bug).__name__}: {bug}".splitlines()[0],
        version=__version__,
        python=platform.python_version(),
        system=platform.platform(),
        command=shlex.join(["taskpack", *sys.argv[1:]]),
        trace="".join(traceback.format_exception(bug)),
    )
    handle, path = tempfile.mkstemp(prefix="taskpack-bug-", suffix=".md")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(page)
    return path

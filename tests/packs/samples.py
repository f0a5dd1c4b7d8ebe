"""Small packs for tests, written where a test wants them."""

from pathlib import Path

OP = (Path(__file__).parents[1] / "formats" / "1" / "op-smallest" / "pack.toml").read_text()
TASK = (Path(__file__).parents[1] / "formats" / "1" / "task-with-its-own-op" / "pack.toml").read_text()
REFERENCE = "def scale(x, rows):\n    return x * rows\n"


def write_pack(folder: Path, text: str, *replacements: tuple[str, str], **files: str) -> Path:
    """A pack in `folder`; every replacement must find its text."""
    for old, new in replacements:
        assert old in text, old
        text = text.replace(old, new, 1)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pack.toml").write_text(text, encoding="utf-8", newline="\n")
    for name, content in {"reference.py": REFERENCE, "kernel.cpp": "", **files}.items():
        (folder / name).write_text(content, encoding="utf-8")
    return folder

"""The boundary: what stays out of `--version`, how errors are worded, and every exit code."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from taskpack import __version__, errors
from taskpack.cli import app

from .conftest import PACKS, Taskpack

HEAVY = ("torch", "triton", "pydantic", "jinja2", "cookiecutter", "rich", "numpy", "tomli")


@pytest.mark.parametrize("words", [["--version"], ["--help"], ["check", "--help"], ["run", "--help"]], ids=" ".join)
def test_heavy_modules_stay_out(words: list[str]) -> None:
    script = f"import sys; sys.argv[1:] = {words!r}\nfrom taskpack.cli.app import main\ntry: main()\nfinally: print([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[]"


def test_version(taskpack: Taskpack) -> None:
    ran = taskpack("--version")
    assert (ran.code, ran.out) == (0, f"taskpack {__version__}\n")


@pytest.mark.alone
def test_version_costs_at_most_twice_the_import_of_click() -> None:
    def cpu(*words: str) -> float:
        before = os.times()
        for _ in range(5):
            subprocess.run([sys.executable, *words], check=True, capture_output=True)
        after = os.times()
        return after.children_user + after.children_system - before.children_user - before.children_system

    cpu("-m", "taskpack", "--version")  # compiles what is imported
    assert cpu("-m", "taskpack", "--version") <= 2 * cpu("-c", "import click")


def test_help_names_every_verb_and_every_exit_code(taskpack: Taskpack) -> None:
    text = taskpack("--help").out
    for verb in app.VERBS:
        assert f"\n  {verb} " in text
    for code in errors.Exit:
        assert re.search(rf"^ +{code.value}  ", text, re.MULTILINE)


def test_a_verb_that_there_is_not(taskpack: Taskpack) -> None:
    ran = taskpack("chekc")
    assert ran.code == 2
    assert ran.err == "error: there is no `taskpack chekc`\n\nhint: did you mean `taskpack check`?\n"


def test_an_option_that_there_is_not(taskpack: Taskpack) -> None:
    ran = taskpack("check", "--jsn")
    assert ran.code == 2
    assert ran.err.startswith("error: ")
    assert "hint: `taskpack check --help`" in ran.err


def test_a_name_that_there_is_not(taskpack: Taskpack) -> None:
    ran = taskpack("check", "arena/hip2hip-softmx")
    assert ran.code == 3
    assert "did you mean `arena/hip2hip-softmax`?" in ran.err


def test_a_bug_of_ours_ends_in_a_file_for_an_issue(tmp_path: Path) -> None:
    script = (
        "import sys, taskpack.cli.subjects as s\n"
        "def broken(words): raise ZeroDivisionError('for the test')\n"
        "s.find_subjects = broken; sys.argv = ['taskpack', 'check', 'x y']\n"
        "from taskpack.cli.app import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=os.environ | {"TMPDIR": str(tmp_path)})
    assert done.returncode == 70
    (log,) = tmp_path.glob("taskpack-bug-*.md")
    assert str(log) in done.stderr
    assert "error: a bug of taskpack: ZeroDivisionError: for the test" in done.stderr
    text = log.read_text(encoding="utf-8")
    assert text.startswith("# taskpack: ZeroDivisionError: for the test\n")
    assert "`taskpack check 'x y'`" in text
    assert "in broken" in text


@pytest.mark.parametrize(
    ("error", "code"),
    [(errors.Conflict, 4), (errors.IntegrityError, 5), (errors.TargetAbsent, 3), (errors.UsageError, 2), (errors.NotFound, 3), (KeyboardInterrupt, 130)],
)
def test_an_error_keeps_its_exit_code(error: type[BaseException], code: int) -> None:
    script = (
        "import sys, taskpack.cli.subjects as s\nfrom taskpack import errors\n"
        f"def broken(words): raise {'errors.' if error.__module__ == 'taskpack.errors' else ''}{error.__name__}('for the test')\n"
        "s.find_subjects = broken; sys.argv = ['taskpack', 'check']\n"
        "from taskpack.cli.app import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == code, done.stderr


def test_ctrl_c() -> None:
    script = (
        "import sys, time, taskpack.cli.subjects as s\n"
        "s.find_subjects = lambda words: (print('here', flush=True), time.sleep(60))\n"
        "sys.argv = ['taskpack', 'check']\n"
        "from taskpack.cli.app import main; main()"
    )
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout
    assert process.stdout.readline() == "here\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (130, "error: interrupted\n")


@pytest.mark.parametrize("words", [["--help"], ["check", str(PACKS / "ops")], ["schema", "op"]], ids=lambda words: words[0])
def test_a_reader_that_goes_away(words: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    process = subprocess.Popen([sys.executable, "-m", "taskpack", *words], stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (141, "")


def test_colour_only_where_it_is_wanted(taskpack: Taskpack) -> None:
    assert "\x1b[" not in taskpack("check", "nowhere").err
    assert "\x1b[" in taskpack("--color", "always", "check", "nowhere").err
    assert "\x1b[" in taskpack("--color", "always", "check", "nowhere", NO_COLOR="1").err
    assert "\x1b[" not in taskpack("--color", "never", "check", "nowhere").err


def test_no_color_on_a_terminal() -> None:
    for value, coloured in (("", True), ("1", False)):
        main, terminal = os.openpty()
        process = subprocess.Popen([sys.executable, "-m", "taskpack", "check", "nowhere"], stderr=terminal, env=os.environ | {"NO_COLOR": value})
        process.wait(60)
        time.sleep(0.05)
        said = os.read(main, 10_000)
        os.close(main)
        os.close(terminal)
        assert (b"\x1b[" in said) == coloured


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("words", [["--help"], ["check", "ops/softmax"]])
def test_output_that_cannot_be_written_is_no_bug(words: list[str]) -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run([sys.executable, "-m", "taskpack", *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "error: the output: No space left on device\n"


def test_a_closed_output_is_no_bug() -> None:
    script = f"exec {sys.executable} -m taskpack check ops/softmax >&-"
    done = subprocess.run(["sh", "-c", script], stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_pack_that_is_a_loop_of_links_is_named(tmp_path: Path) -> None:
    (tmp_path / "pack.toml").symlink_to("pack.toml")
    done = subprocess.run([sys.executable, "-m", "taskpack", "check", tmp_path], stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode in (2, 3)
    assert done.stderr.startswith("error: ")
    assert "bug" not in done.stderr


def test_an_empty_word_names_no_pack() -> None:
    done = subprocess.run([sys.executable, "-m", "taskpack", "check", ""], stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert "empty word" in done.stderr

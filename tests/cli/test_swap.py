"""`taskpack swap` and packs about a library: what is refused before anything is judged, and with which exit code."""

from pathlib import Path

from .conftest import PACKS, Taskpack

MODEL = PACKS / "models" / "llama"


def test_replacing_nothing_is_an_error(taskpack: Taskpack, tmp_path: Path) -> None:
    ran = taskpack("swap", MODEL)
    assert ran.code == 2
    assert "nothing is replaced" in ran.err
    assert "production/hf-llama-rmsnorm, production/hf-llama-mlp" in ran.err


def test_words_that_name_no_task_no_folder_or_no_pair(taskpack: Taskpack, tmp_path: Path) -> None:
    for pair, code, words in (
        (f"hf-llama-mpl={tmp_path}", 2, "`hf-llama-mpl` replaces nothing in `models/llama`"),
        (f"hf-llama-mlp={tmp_path}/nowhere", 3, "there is no folder"),
        ("hf-llama-mlp", 2, "`hf-llama-mlp` is not TASK=DIR"),
        (f"hf-llama-mlp={tmp_path}", 2, "holds no candidate of `production/hf-llama-mlp`: it has no `module.py`"),
    ):
        ran = taskpack("swap", MODEL, "--with", pair)
        assert ran.code == code, ran.err
        assert words in ran.err


def test_a_task_is_given_once(taskpack: Taskpack) -> None:
    start = PACKS / "production" / "hf-llama-mlp" / "start"
    for second in ("hf-llama-mlp", "production/hf-llama-mlp"):
        ran = taskpack("swap", MODEL, "--with", f"hf-llama-mlp={start}", "--with", f"{second}={start}")
        assert ran.code == 2
        assert "is given twice" in ran.err


def test_the_last_part_of_a_name_is_enough_for_a_hint(taskpack: Taskpack) -> None:
    ran = taskpack("swap", "llama")
    assert ran.code == 3
    assert "there is no pack `llama`\n\nhint: did you mean `models/llama`?" in ran.err


def test_without_the_library_packs_check_and_say_what_they_lack(taskpack: Taskpack, tmp_path: Path) -> None:
    for name in ("ops/hf-llama-mlp", "production/hf-llama-mlp"):
        folder = tmp_path / "packs" / name
        folder.mkdir(parents=True)
        text = (PACKS / name / "pack.toml").read_text().replace('provider = "transformers"', 'provider = "no-such-library"')
        (folder / "pack.toml").write_text(text.partition("\n[[task.example]]")[0].replace('start = "start"\n', ""))
    shelf = {"cwd": tmp_path / "packs" / "production" / "hf-llama-mlp"}
    assert taskpack("check", tmp_path / "packs").code == 0
    ran = taskpack("build", tmp_path / "packs", "--target", "cpu", **shelf)
    assert ran.code == 3, ran.err
    assert "needs no-such-library (>=5.4, <6), which is not installed: pip install 'no-such-library>=5.4.0,<6.0.0'" in ran.err.replace("\n", " ")

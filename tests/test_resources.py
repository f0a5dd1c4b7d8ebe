"""What ships is found in a checkout and in a wheel."""

import shutil
import subprocess
import sys
from pathlib import Path

from taskpack import resources

ROOT = Path(__file__).parents[1]
NAMES = {"templates": resources.templates, "schemas": resources.schemas, "packs": resources.shipped_packs, "registry": resources.registry}


def test_in_a_checkout():
    for name, find in NAMES.items():
        assert find() == ROOT / name
        assert find().is_dir()
    assert (resources.runtime_folder() / "contract.py").is_file()


def test_in_a_wheel(tmp_path):
    package = tmp_path / "site-packages" / "taskpack"
    package.mkdir(parents=True)
    for name in ("__init__.py", "resources.py"):
        shutil.copy(ROOT / "taskpack" / name, package / name)
    (package / "_data" / "schemas").mkdir(parents=True)
    code = "from taskpack import resources; print(resources.schemas())"
    run = subprocess.run([sys.executable, "-c", code], cwd=package.parent, capture_output=True, text=True, check=True)
    assert Path(run.stdout.strip()).resolve() == (package / "_data" / "schemas").resolve()


def test_a_checkout_wins_over_a_copy(tmp_path):
    package = tmp_path / "taskpack"
    (package / "_data" / "schemas").mkdir(parents=True)
    (tmp_path / "schemas").mkdir()
    (tmp_path / "pyproject.toml").touch()
    for name in ("__init__.py", "resources.py"):
        shutil.copy(ROOT / "taskpack" / name, package / name)
    code = "from taskpack import resources; print(resources.schemas())"
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert Path(run.stdout.strip()).resolve() == (tmp_path / "schemas").resolve()

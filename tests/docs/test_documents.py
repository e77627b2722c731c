"""What the documents say is what the code does."""

from __future__ import annotations

import importlib.util
import re
import shlex
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

from armillary_cli.connect import CLIENTS
from armillary_cli.exit_codes import ExitCode
from armillary_core.domain.errors import AppError
from armillary_core.settings.load import variables
from armillary_core.settings.model import Settings
from armillary_gateway.tools import TOOLS

ROOT = Path(__file__).resolve().parent.parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def tool(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"tools_{name}", ROOT / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def every_error(kind: type[AppError] = AppError) -> list[type[AppError]]:
    mine = [child for child in kind.__subclasses__() if child.__module__ == AppError.__module__]
    return [error for child in mine for error in (child, *every_error(child))]


@pytest.mark.parametrize("page", sorted(tool("reference").PAGES))
def test_pages_made_from_the_code_are_current(page: str) -> None:
    assert text(page) == tool("reference").PAGES[page](), "run: make docs"


def test_no_link_leads_nowhere() -> None:
    assert tool("links").dead_links() == []


def test_the_readme_is_short_and_its_make_targets_exist() -> None:
    assert len(README.splitlines()) < 120
    targets = set(re.findall(r"^([a-z-]+)(?: [a-z-]+)*:", text("Makefile"), re.MULTILINE))
    named = set(
        re.findall(r"(?:^|`)make ([a-z-]+)", "\n".join(text(name) for name in ("README.md", "CONTRIBUTING.md")), re.M)
    )
    assert {"run", "test"} <= named <= targets


def test_every_target_that_make_lists_exists_and_is_phony() -> None:
    makefile = text("Makefile")
    listed = set(re.findall(r"^([a-z-]+):.*## ", makefile, re.MULTILINE))
    phony = set(re.findall(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)[0].split())
    assert listed <= phony


def test_make_run_takes_folders_with_spaces() -> None:
    given = ["DIRS='/my notes' /code", "DATA=/two words", "PORT=8421"]
    shown = subprocess.run(["make", "-n", "run", *given], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    line = next(line for line in shown.splitlines() if "armillary up" in line)
    words = shlex.split(line)
    assert words[words.index("up") :] == ["up", "/my notes", "/code", "--port", "8421", "--data", "/two words"]


def test_every_command_in_the_documents_exists() -> None:
    known = set(re.findall(r"^## armillary (.+)$", text("docs/reference/commands.md"), re.MULTILINE))
    pages = [README, *(page.read_text(encoding="utf-8") for page in (ROOT / "docs").rglob("*.md"))]
    for page in pages:
        for words in re.findall(r"(?:^|`|/)armillary ((?:[a-z]+ ?){1,2})", page, re.MULTILINE):
            parts = words.split()
            assert parts[0] in known or " ".join(parts[:2]) in known or parts[0] in ("COMMAND",), words


def test_every_setting_and_variable_is_documented() -> None:
    page = text("docs/reference/settings.md")
    assert all(f"`{name}" in page for name in Settings.model_fields)
    for variable in variables():
        dotted = variable.removeprefix("ARMILLARY_").lower().replace("__", ".")
        assert f"`{dotted}`" in page or f"`{variable}`" in page, variable


def test_every_tool_error_client_and_exit_code_is_documented() -> None:
    tools = text("docs/reference/tools.md")
    assert all(f"## {tool.name}\n" in tools for tool in TOOLS)
    errors = text("docs/reference/errors.md")
    for kind in every_error():
        assert f"| `{kind.code}` | " in errors
        assert f"| `{kind.code}` |  |" not in errors, f"{kind.__name__} has no docstring"
    assert all(f"connect {name} --write" in README for name in CLIENTS)
    assert all(f"| {code.value} | " in text("docs/reference/exit-codes.md") for code in ExitCode)


def test_every_folder_that_contributing_names_exists() -> None:
    page = text("CONTRIBUTING.md")
    for name in re.findall(r"^((?:packages|services|tests|tools)[\w/-]*/)", page, re.MULTILINE):
        assert (ROOT / name).is_dir(), name


def test_locks_and_documents_name_no_package_index() -> None:
    for name in ("requirements.lock", "requirements-dev.lock", "requirements-tools.lock"):
        assert "://" not in text(name)

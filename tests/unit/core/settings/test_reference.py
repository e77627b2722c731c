"""Settings as text."""

from __future__ import annotations

import yaml

from armillary_core.settings.model import ProjectWish, Settings
from armillary_core.settings.reference import example_file, masked, reference_page, yaml_text


def test_the_example_says_the_defaults_when_its_comments_are_taken_away() -> None:
    lines = [line.removeprefix("# ") for line in example_file().splitlines() if line.startswith("# ")]
    head_ends = next(number for number, line in enumerate(lines) if line.startswith("# Folder of the catalogue"))
    values = yaml.safe_load("\n".join(lines[head_ends:]))
    assert values.pop("projects") == {"notes": ProjectWish().model_dump(mode="json")}
    assert Settings(**values) == Settings()


def test_the_example_as_it_is_sets_nothing() -> None:
    assert yaml.safe_load(example_file()) is None


def test_every_setting_is_in_the_reference_with_its_meaning() -> None:
    page = reference_page()
    assert "| `embedding.threads` | `1` | Processor threads that embedding may use. (at least 1, at most 64) |" in page
    assert "`projects.NAME.ignore_dirs`" in page
    assert all(f"`{name}" in page for name in Settings.model_fields)
    assert "None |" not in page


def test_what_holds_is_shown_and_can_be_read_again() -> None:
    settings = Settings(port=9, projects={"notes": ProjectWish(private=True)})
    shown = yaml.safe_load(yaml_text(masked(settings)))
    assert shown["projects"]["notes"]["private"] is True
    assert Settings(**shown) == settings

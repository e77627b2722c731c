from __future__ import annotations

import pytest

from armillary_core.text.noise import blanked_jsx, without_noise


def words(text: str, media_type: str = "text/mdx") -> list[str]:
    kept = without_noise(text, media_type)
    assert kept is not None
    assert len(kept) == len(text)
    assert kept.count("\n") == text.count("\n")
    return kept.split()


def test_components_imports_and_comments_say_nothing() -> None:
    text = (
        "import Card from './card'\nexport const a = {\n  b: 1\n}\n\n"
        "<Card title='t'>\n\nkept `Map<String, Int>`\n\n</Card>\n"
        "{/* gone */} <!-- gone --> <Icon.Small\n  name='x' /> end\n"
    )
    assert words(text) == ["kept", "`Map<String,", "Int>`", "end"]


def test_markdoc_tags_say_nothing_in_markdown_either() -> None:
    assert words('{% callout type="x" %}\nkept\n{% /callout %}\n', "text/markdown") == ["kept"]


def test_code_is_left_alone() -> None:
    text = "```jsx\nimport x\n<Card>{% y %}</Card>\n```\n\n<Card>kept</Card>\n"
    assert words(text) == ["```jsx", "import", "x", "<Card>{%", "y", "%}</Card>", "```", "kept"]


@pytest.mark.parametrize(("text", "media_type"), [("plain", "text/markdown"), ("{% x %}", "text/plain")])
def test_other_texts_have_no_noise(text: str, media_type: str) -> None:
    assert without_noise(text, media_type) is None


def test_headings_inside_of_comments_are_blanked() -> None:
    assert blanked_jsx("<!--\n# no\n-->\n# yes\n").split() == ["#", "yes"]


@pytest.mark.parametrize("beginning", ["<!--", "{%", "{/*", "<A ", "import a\n", "```\n"])
def test_a_text_full_of_beginnings_is_read_in_bounded_time(beginning: str) -> None:
    text = beginning * 100_000
    kept = without_noise(text, "text/mdx")
    assert kept is not None
    assert len(kept) == len(text)

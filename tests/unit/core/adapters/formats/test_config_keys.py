from __future__ import annotations

import pytest

from armillary_core.adapters.formats.config_keys import ConfigKeysExtractor
from armillary_core.domain.chapter import ChapterKind
from armillary_core.domain.ingest import ExtractedText
from armillary_core.ports.extractor import SourceFile


def extract(name: str, text: str) -> ExtractedText:
    return ConfigKeysExtractor().extract(SourceFile(name, text.encode()))


def keys(name: str, text: str) -> list[tuple[str, int, int]]:
    return [(chapter.name, chapter.start_line, chapter.end_line) for chapter in extract(name, text).chapters]


def test_yaml_keys_take_the_comment_above_them() -> None:
    text = "# top\n\nfirst:\n  a: 1\n# about second\nsecond: [1, 2]\n---\nfirst: |\n  third: no\n"
    assert keys("a.yaml", text) == [("", 1, 2), ("first", 3, 4), ("second", 5, 7), ("first", 8, 9)]
    assert [chapter.anchor for chapter in extract("a.yaml", text).chapters] == [
        "_preamble",
        "first",
        "second",
        "first-1",
    ]


def test_yaml_tags_and_aliases_do_nothing() -> None:
    bomb = "a: &a [x, x]\n" + "".join(
        f"{chr(98 + n)}: &{chr(98 + n)} [*{chr(97 + n)}, *{chr(97 + n)}]\n" for n in range(20)
    )
    assert len(keys("a.yml", bomb)) == 21
    assert keys("a.yml", "run: !!python/object/apply:os.system ['false']\n") == [("run", 1, 1)]


def test_toml_sections_are_not_looked_for_in_strings_and_lists() -> None:
    text = 'name = "x"\nmatrix = [\n  [1],\n  [2],\n]\n'
    text += '[one]\ntext = """\n[no]\n"""\n[[one.two]]\na = 1\n["quoted.key"]\nb = 1\n'
    assert keys("a.toml", text) == [
        ("name", 1, 1),
        ("matrix", 2, 5),
        ("one", 6, 9),
        ("one.two", 10, 11),
        ('"quoted.key"', 12, 13),
    ]


def test_json_keys_of_the_top_level() -> None:
    text = '{\n  "a": {"b": 1},\n  "c\\u00e9": [\n    1\n  ],\n  "d": "}"\n}\n'
    assert keys("a.json", text) == [("a", 1, 2), ("cé", 3, 5), ("d", 6, 7)]


def test_a_huge_json_in_one_line_is_one_chapter() -> None:
    text = '{"a":1,"b":[' + ",".join(["12345"] * 300_000) + "]}"
    (chapter,) = extract("a.json", text).chapters
    assert chapter.kind is ChapterKind.PARAGRAPH


def test_ini_sections() -> None:
    assert keys("a.ini", "; top\n[one]\na=1\n\n# two\n[two]\nb\n") == [("one", 1, 4), ("two", 5, 7)]


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("a.yaml", "a: [1\nb: 2\n", "YAML"),
        ("a.yaml", "{{- if .Values.y }}\nz: 1\n{{- end }}\n", "YAML"),
        ("a.toml", "a = \n", "TOML"),
        ("a.json", '{"a": 1,}', "JSON"),
        ("a.json", '{"a": 1} {"b": 2}', "JSON"),
        ("a.json", "// c\n{}", "JSON"),
        ("a.json", "[" * 100_000, "JSON"),
        ("a.json", '{"a":' * 50_000, "JSON"),
        ("a.ini", "[open\nx=1\n", "INI"),
    ],
)
def test_what_does_not_parse_is_plain_text(name: str, text: str, kind: str) -> None:
    extracted = extract(name, text)
    assert extracted.note is not None
    assert f"not valid {kind}" in extracted.note
    assert {chapter.kind for chapter in extracted.chapters} == {ChapterKind.PARAGRAPH}


@pytest.mark.parametrize(("name", "text"), [("a.yaml", "- 1\n- 2\n"), ("a.json", "[1, 2]\n"), ("a.json", "{}\n")])
def test_lists_have_no_keys(name: str, text: str) -> None:
    extracted = extract(name, text)
    assert extracted.note is None
    assert len(extracted.chapters) == 1

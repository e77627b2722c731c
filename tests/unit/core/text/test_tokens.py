from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter

import pytest
import Stemmer
from hypothesis import given
from hypothesis import strategies as st

from armillary_core.text.tokens import MAX_TOKEN, count_tokens, query_terms, token_id


def tokens_of(text: str, language: str | None = None) -> set[int]:
    return set(count_tokens(text, language).terms.ids)


def asked(text: str, *languages: str) -> list[str]:
    return [token for term in query_terms(text, languages) for token in term.tokens]


def finds(question: str, text: str, language: str | None = None, *languages: str) -> bool:
    """Every word of the question has a token in the text."""
    there = tokens_of(text, language)
    return all(any(token_id(token) in there for token in term.tokens) for term in query_terms(question, languages))


def test_plain_prose_is_counted_as_the_textbook_does() -> None:
    text = "The runners were running; a runner's run is it. Queries, querying: QUERIED! Don't stop in 1990."
    stem = Stemmer.Stemmer("english").stemWord
    expected = Counter(token_id(stem(word)) for word in re.findall(r"\w+", text.lower()))
    terms = count_tokens(text, "en").terms
    assert dict(zip(terms.ids, terms.counts, strict=True)) == dict(expected)
    assert terms.length == expected.total()


@given(
    st.text(alphabet="abcdefghij ABCDEF.,;!?\n()", max_size=200).filter(lambda t: not re.search(r"\w[A-Z]|\w\.\w", t))
)
def test_any_prose_is_counted_as_the_textbook_does(text: str) -> None:
    text = re.sub(r"(?<!\s)\.(?=\w)|(?<!\S)\.(?=\w)", " ", text)  # `.net` and `a.b` are identifiers
    stem = Stemmer.Stemmer("english").stemWord
    expected = Counter(token_id(stem(word)) for word in re.findall(r"\w+", text.lower()))
    terms = count_tokens(text, "en").terms
    assert dict(zip(terms.ids, terms.counts, strict=True)) == dict(expected)


@pytest.mark.parametrize(
    ("written", "question"),
    [
        ("getUserById", "getUserById"),
        ("getUserById", "user"),
        ("getUserById", "getuserbyid"),
        ("HTTPServer", "server"),
        ("HTTPServer", "http"),
        ("parseURLs()", "urls"),
        ("snake_case_name", "snake_case_name"),
        ("snake_case_name", "snake"),
        ("__init__", "init"),
        ("_emphasised_", "emphasised"),
        ("kebab-case", "kebab-case"),
        ("kebab-case", "kebab"),
        ("released v1.2.3,", "v1.2.3"),
        ("released v1.2.3,", "1.2.3"),
        ("(`--dry-run`)", "--dry-run"),
        ("(`--dry-run`)", "dry-run"),
        ("(`--dry-run`)", "dry"),
        ("use -v twice", "-v"),
        ("C# and C++.", "C#"),
        ("C# and C++.", "c++"),
        ("on .NET 8", ".NET"),
        ("on .NET 8", "net"),
        ("error[E0277]: no", "E0277"),
        ("foo.bar.baz()", "foo.bar.baz"),
        ("foo.bar.baz()", "baz"),
        ("std::vec::Vec", "std::vec::vec"),
        ("edit /etc/app.conf now", "/etc/app.conf"),
        ("edit /etc/app.conf now", "app.conf"),
        ("src\\my-mod\\app.py", "src/my-mod/app.py"),
        ("src/my-mod/app.py", "my-mod"),
        ("see https://example.org/docs/setup.", "example.org/docs/setup"),
        ("see https://example.org/docs/setup.", "example.org"),
        ("@scope/package", "@scope/package"),
        ("mail ops@example.org", "ops@example.org"),
        ("sha256sum", "sha"),
        ("Ёлка у входа", "елка"),
        ("Straße", "strasse"),
        ("STRASSE", "straße"),
        ("re\u0301sume\u0301", "resume"),
        ("Łódź", "lodz"),
        ("naïve café", "naive cafe"),
        ("ﬁle name", "file"),
        ("soft\u00adhyphen", "softhyphen"),
    ],
)
def test_an_identifier_is_found_whole_and_by_its_parts(written: str, question: str) -> None:
    assert finds(question, written)


@pytest.mark.parametrize(
    ("question", "text"),
    [("C#", "the letter c and issue # 3"), ("c++", "plain c"), ("--dry-run", "dry run"), ("v1.2.3", "v1, 2 and 3")],
)
def test_the_whole_of_an_identifier_is_not_what_its_parts_are(question: str, text: str) -> None:
    (term,) = query_terms(question, [])
    assert token_id(question.lower()) not in tokens_of(text)
    assert question.lower() in term.tokens


@pytest.mark.parametrize(
    ("language", "text", "question"),
    [
        ("ru", "Индексы обновляются автоматически", "индекс обновляется"),
        ("ru", "миграциями", "миграция"),
        (None, "Настройки подключений", "подключение"),
        ("de", "Die Häuser", "Haus"),
        ("de", "Äpfel", "Apfel"),
        ("fr", "les réseaux nationaux", "réseau national"),
        ("es", "las configuraciones", "configuración"),
        ("en", "rotating the backups", "rotate backup"),
        (None, "rotating the backups", "rotates"),
        ("fi", "taloissa", "talossa"),
        ("el", "αρχεία", "αρχείο"),
    ],
)
def test_inflected_forms_find_each_other(language: str | None, text: str, question: str) -> None:
    assert finds(question, text, language, *([language] if language else []))


def test_a_word_is_asked_in_every_language_and_in_the_default_one() -> None:
    (term,) = query_terms("running", ["de", "fr"])
    assert {"run", "running"} <= set(term.tokens)


def test_words_of_another_script_keep_their_own_stems() -> None:
    assert finds("connections", "Настройка connections", "ru")
    assert finds("подключение", "the word подключения here", "en")


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("全文搜索支持中文分词。", "搜索"),
        ("全文搜索支持中文分词。", "词"),
        ("データベース接続の設定方法", "接続"),
        ("데이터베이스를 연결하는 방법", "데이터베이스"),
        ("물을 마신다", "물"),
        ("使用Docker部署", "docker"),
        ("使用Docker部署", "部署"),
        ("ภาษาไทย", "ไทย"),
    ],
)
def test_text_without_spaces_is_found_by_pairs_and_single_characters(text: str, question: str) -> None:
    assert finds(question, text)


def test_a_question_in_chinese_asks_for_pairs_only() -> None:
    assert asked("数据库") == ["数据", "据库"]
    assert asked("库") == ["库"]


def test_terms_say_where_they_stand_and_what_they_are() -> None:
    question = "How is --dry-run used by getUserById in 东京?"
    terms = query_terms(question, [])
    assert [question[term.start : term.end] for term in terms] == [term.surface for term in terms]
    assert [term.surface for term in terms if term.identifier] == ["--dry-run", "getUserById"]
    assert [term.surface for term in terms if term.stop] == ["is", "by", "in"]


@pytest.mark.parametrize("word", ["backup", "GitHub's", "well-known", "API", "APIs", "Hello", "2024", "_yes_"])
def test_ordinary_words_are_no_identifiers(word: str) -> None:
    assert not any(term.identifier for term in query_terms(word, []) if term.surface != "GitHub")


def test_stop_words_stay_in_the_index() -> None:
    assert token_id("the") in tokens_of("The answer", "en")


@pytest.mark.parametrize(
    "text", ["", "   \n\t", "!!! ??? --- ...", "#", "___", "\u0301", "\u00ad", "-\u0301#", "\u0640"]
)
def test_text_without_words_has_no_tokens(text: str) -> None:
    assert count_tokens(text, None).terms.length == 0
    assert query_terms(text, []) == []


def test_long_blobs_are_bounded() -> None:
    blob = "QUJD0a" * 7000
    counted = count_tokens(f"before {blob} after", None)
    assert counted.terms.length < 10
    assert all(len(word) <= MAX_TOKEN for word in counted.words.values())
    assert {token_id("befor"), token_id("after")} <= set(counted.terms.ids)


def test_a_sign_after_a_long_word_is_only_a_sign() -> None:
    assert asked("issue#") == ["issu"]
    assert asked("a.issue#")[-1] == "a.issue"


def test_words_of_a_language_without_stems_are_left_whole() -> None:
    assert token_id("документами") in tokens_of("з документами", "uk")
    assert finds("документами", "з документами", "uk", "uk")


def test_a_memory_that_is_full_forgets_and_goes_on() -> None:
    many = " ".join(f"word{number}x" for number in range(60_000))
    assert len(count_tokens(many, "eo").terms.ids) >= 60_000
    assert len(count_tokens(many, "eo").terms.ids) >= 60_000


def test_a_count_beyond_what_is_stored_is_capped() -> None:
    assert list(count_tokens("spam " * 70_000, "en").terms.counts) == [0xFFFF]


def test_each_token_has_a_word_that_was_seen() -> None:
    counted = count_tokens("Running Häuser getUserById", "en")
    assert set(counted.words) == set(counted.terms.ids)
    assert counted.words[token_id("run")] == "running"


def test_token_ids_are_the_same_in_another_process() -> None:
    code = "from armillary_core.text.tokens import token_id; print(token_id('ёлка'), token_id('getuserbyid'))"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.split() == [str(token_id("ёлка")), str(token_id("getuserbyid"))]


_ANY = st.text(max_size=80) | st.text("aZ1_-./\\:#+@~>é\u0301\u00ad\u0640ßİд東カ한ไ्ा \n", max_size=40)


@given(_ANY, st.sampled_from([None, "en", "ru", "de", "zh", "xx"]))
def test_anything_that_is_written_is_found_by_itself(text: str, language: str | None) -> None:
    words = " ".join(text.split())
    there = tokens_of(words, language)
    for term in query_terms(words, [language] if language else []):
        assert any(token_id(token) in there for token in term.tokens), term

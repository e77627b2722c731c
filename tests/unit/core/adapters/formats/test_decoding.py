from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armillary_core.adapters.formats.decoding import decode

RU = "Старая кодировка текста: настройка сервера."


@pytest.mark.parametrize(
    ("text", "written", "told"),
    [
        ("Grüße – цена needleE", "utf-8", "utf-8"),
        ("Grüße – цена needleE", "utf-8-sig", "utf-8"),
        ("Grüße – цена needleE", "utf-16", "utf-16-le"),
        ("Grüße – цена needleE", "utf-16-be", "utf-16-be"),
        ("plain words\n", "utf-16-le", "utf-16-le"),
        ("Grüße – needleE", "cp1252", "windows-1252"),
        ("# Café latin\n\ncaféneedle naïve\n", "latin-1", "windows-1252"),
        ("– цена needleE", "cp1251", "windows-1251"),
        ("# Заголовок\n\nстарая кодировка\n", "cp1251", "windows-1251"),
        ("ЗАГОЛОВОК ПРОГРАММЫ", "cp1251", "windows-1251"),
        ("цена needleE", "koi8-r", "koi8-r"),
        (RU, "koi8-r", "koi8-r"),
        (RU, "cp866", "cp866"),
        ("Příliš žluťoučký kůň úpěl ďábelské ódy", "cp1250", "windows-1250"),
        ("it’s a “quoted” text at 20 °C", "cp1252", "windows-1252"),
        ("如何配置数据库连接和用户权限管理。", "gb18030", "gb18030"),
        ("データベース接続の設定方法。東京都の天気。", "shift_jis", "cp932"),
        ("데이터베이스를 연결하는 방법을 설명합니다.", "euc_kr", "cp949"),
    ],
)
def test_a_charset_is_recognised_and_told(text: str, written: str, told: str) -> None:
    decoded = decode(text.encode(written))
    assert (decoded.text, decoded.charset, decoded.note) == (text, told, None)


@pytest.mark.parametrize(
    ("content", "text", "count"),
    [
        ("Straße — ".encode() * 5 + b"\xff end", "Straße — " * 5 + "\ufffd end", "1 "),
        (b"# Broken\n\nneedle \xff\xfe\xc3( tail\n", "# Broken\n\nneedle \ufffd\ufffd\ufffd( tail\n", "3 "),
    ],
)
def test_bad_bytes_in_utf8_are_replaced_and_told(content: bytes, text: str, count: str) -> None:
    decoded = decode(content)
    assert (decoded.text, decoded.charset) == (text, "utf-8")
    assert decoded.note is not None
    assert decoded.note.startswith(count)


def test_line_ends_become_line_feeds() -> None:
    assert decode(b"a\r\nb\rc\n").text == "a\nb\nc\n"


def test_a_large_old_file_with_one_bad_byte_is_still_decoded() -> None:
    decoded = decode(("слово за словом\n" * 50_000).encode("cp1251") + b"\x98")
    assert decoded.charset == "windows-1251"
    assert decoded.note is not None


@given(st.binary(max_size=300))
def test_any_bytes_become_text_that_can_be_stored(content: bytes) -> None:
    text = decode(content).text
    text.encode("utf-8")
    assert "\r" not in text
    assert "\0" not in text


@given(st.text(max_size=100))
def test_utf8_is_never_taken_for_anything_else(text: str) -> None:
    text = text.replace("\0", "").replace("\ufeff", "")
    decoded = decode(text.encode("utf-8", "replace"))
    assert decoded.charset == "utf-8"

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armillary_gateway.masking import clean, hide_keys
from armillary_gateway.quoting import Quoting, fenced

R = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"key ghp_{R[:36]} end", "key ghp_[masked] end"),
        (f"github_pat_{R}", "github_pat_[masked]"),
        ("AKIA" + "ABCDEFGHIJKLMN12", "AKIA[masked]"),
        (f'aws_secret_access_key = "{R}"', 'aws_secret_access_key = "[masked]"'),
        (f"sk-{R[:24]}", "sk-[masked]"),
        (f"sk-ant-api03-{R[:24]}", "sk-[masked]"),
        (f"xoxb-{R[:12]}", "xoxb-[masked]"),
        (f"AIza{R[:35]}", "AIza[masked]"),
        (f"sk_live_{R[:20]}", "sk_live_[masked]"),
        (f"glpat-{R[:20]}", "glpat-[masked]"),
        (f"Authorization: Bearer {R}", "Authorization: Bearer [masked]"),
        (f"arm_{(R + R)[:43]}", "arm_[masked]"),
        ("-----BEGIN PRIVATE KEY-----\nabc\ndef\n-----END PRIVATE KEY-----", None),
        ("-----BEGIN OPENSSH PRIVATE KEY-----\nabc\ndef", "-----BEGIN OPENSSH PRIVATE KEY-----\n[masked]"),
    ],
)
def test_keys_are_masked(text: str, shown: str | None) -> None:
    assert len(hide_keys(text)) == len(text)
    assert clean(hide_keys(text)) == (shown or "-----BEGIN PRIVATE KEY-----\n[masked]\n-----END PRIVATE KEY-----")


@pytest.mark.parametrize(
    "text",
    [
        "a commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "sk-learn and sk-estimator-doc-link-with-a-long-name",
        "class SkBearer: bearer of tokens and bearer of a long-word-without-any-digits-in-it",
        "-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----",
        "https://example.test/a/very/long/path/without/any/capital/letters/but/42/digits/in/it",
        "eyJust a word",
        "AKIA is a prefix",
    ],
)
def test_what_is_no_key_stays(text: str) -> None:
    assert clean(hide_keys(text, loose=True)) == text


def test_a_snippet_hides_the_inside_of_a_key() -> None:
    body = "MIIEowIBAAKCAQEAx8Jk1Zp0n3T5v7Yq2W4e6R8t0Y1u3I5o7P9a1S3d5F7g9H1j"
    assert Quoting().snippet(f"before {body} after", 200) == "before [masked] after"


def test_control_characters_and_invisible_ones_go() -> None:
    assert clean("a\x1b[2Jb\u202ec\U000e0041d\x00\ne\tf") == "a[2Jbcd[masked]\ne\tf"
    assert Quoting(mask_keys=False).line("a\x00b") == "ab"


@given(st.text(max_size=300))
def test_hiding_keeps_the_length_and_cleaning_leaves_no_control_character(text: str) -> None:
    hidden = hide_keys(text)
    assert len(hidden) == len(text)
    assert all(character in "\n\t" or ord(character) >= 32 for character in clean(hidden))


@given(st.text(alphabet="`~a\n ", max_size=60))
def test_content_cannot_close_its_fence(text: str) -> None:
    first, *inside, last = fenced(text).splitlines()[1:]
    assert first == last and len(first) >= 3
    assert not any(line.strip() == first for line in inside)


@given(st.text(max_size=400), st.integers(min_value=30, max_value=200))
def test_a_snippet_keeps_to_its_bytes(text: str, limit: int) -> None:
    assert len(Quoting().snippet(text, limit).encode()) <= limit


def test_a_snippet_shows_the_first_mark() -> None:
    text = "filler words " * 30 + "the \x02needle\x03 is here " + "and more " * 30
    shown = Quoting().snippet(text, 80)
    assert "needle" in shown and shown.startswith("…")


@pytest.mark.parametrize("ticks", [31, 32, 5000])
def test_a_fence_stays_short_whatever_it_holds(ticks: int) -> None:
    text = f"before\n{'`' * ticks}\nafter"
    _, first, *inside, last = fenced(text).splitlines()
    assert first == last
    assert len(first) < 40
    assert "\n".join(inside) == text
    assert first not in text

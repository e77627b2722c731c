from __future__ import annotations

import pytest

from armillary_core.text.sniff import media_type_of, sniff


@pytest.mark.parametrize(
    ("name", "media_type"),
    [
        ("a.md", "text/markdown"),
        ("UPPER.MD", "text/markdown"),
        ("readme.markdown", "text/markdown"),
        ("a.b.mdx", "text/mdx"),
        ("x.PY", "text/x-python"),
        ("photo.JPEG", "image/jpeg"),
        ("README", None),
        (".gitignore", None),
        ("no.such-suffix", None),
        ("Makefile", "text/plain"),
    ],
)
def test_a_name_tells_the_format(name: str, media_type: str | None) -> None:
    assert media_type_of(name) == media_type


PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(64))


@pytest.mark.parametrize(
    ("name", "content", "media_type", "binary"),
    [
        ("a.md", PNG, "image/png", True),
        ("a.md", b"# Nul\n\nbefore\0after\n", "application/octet-stream", True),
        ("a.txt", bytes(range(1, 255)) * 8, "application/octet-stream", True),
        ("a.md", b"%PDF-1.7\n", "application/pdf", True),
        ("a.txt", b"PK\x03\x04rest", "application/zip", True),
        ("a.png", b"", "image/png", True),
        ("a.md", b"", "text/markdown", False),
        ("README", b"plain words\n", "text/plain", False),
        ("unknown.xyz", "слова".encode("koi8-r"), "text/plain", False),
        ("page", b"<!DOCTYPE html><html>", "text/html", False),
        ("tool", b"#!/usr/bin/env python3\nprint()\n", "text/x-python", False),
        ("a.md", "# Ü".encode("utf-16"), "text/markdown", False),
        ("a.md", "# plain title and text\n".encode("utf-16-be"), "text/markdown", False),
        ("a.log", b"\x1b[31mred\x1b[0m plain\n", "text/plain", False),
    ],
)
def test_bytes_are_looked_at_before_a_name_is_believed(
    name: str, content: bytes, media_type: str, binary: bool
) -> None:
    found = sniff(name, content)
    assert found.media_type == media_type
    assert (found.binary is not None) is binary

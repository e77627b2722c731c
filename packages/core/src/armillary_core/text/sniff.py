"""Which format a file is: by its name, then by its first bytes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

PLAIN: Final = "text/plain"
UNKNOWN: Final = "application/octet-stream"

_TEXT_SUFFIXES: Final = {
    "text/markdown": "md markdown mdown mkd mkdn mdwn",
    "text/mdx": "mdx",
    "text/x-rst": "rst rest",
    "text/asciidoc": "adoc asciidoc asc",
    "text/org": "org",
    "text/x-python": "py pyi pyw",
    "application/yaml": "yaml yml",
    "application/toml": "toml",
    "application/json": "json webmanifest geojson",
    "text/x-ini": "ini cfg editorconfig",
    "text/html": "html htm xhtml",
    "text/javascript": "js mjs cjs jsx",
    "text/typescript": "ts tsx mts cts",
    "text/x-go": "go",
    "text/x-rust": "rs",
    "text/x-java": "java",
    "text/x-kotlin": "kt kts",
    "text/x-c": "c h",
    "text/x-c++": "cc cpp cxx hh hpp hxx",
    "text/x-csharp": "cs",
    "text/x-ruby": "rb",
    "text/x-php": "php",
    "text/x-shellscript": "sh bash zsh fish",
    "text/x-sql": "sql",
    "text/css": "css scss sass less",
    "text/csv": "csv",
    "text/tab-separated-values": "tsv",
    "text/xml": "xml xsd xsl xslt rss atom",
    "text/x-diff": "diff patch",
    "text/x-tex": "tex",
    PLAIN: "txt text log",
}
_BINARY_SUFFIXES: Final = {
    "application/pdf": "pdf",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
    "application/vnd.oasis.opendocument.text": "odt",
    "application/vnd.oasis.opendocument.spreadsheet": "ods",
    "application/vnd.oasis.opendocument.presentation": "odp",
    "application/msword": "doc",
    "application/vnd.ms-powerpoint": "ppt",
    "application/vnd.ms-excel": "xls",
    "application/rtf": "rtf",
    "application/epub+zip": "epub",
    "image/png": "png",
    "image/jpeg": "jpg jpeg jpe",
    "image/gif": "gif",
    "image/webp": "webp",
    "image/bmp": "bmp",
    "image/tiff": "tif tiff",
    "image/svg+xml": "svg",
    "image/x-icon": "ico",
    "image/avif": "avif heic heif",
    "image/vnd.adobe.photoshop": "psd",
    "audio/mpeg": "mp3",
    "audio/ogg": "ogg oga opus",
    "audio/wav": "wav",
    "audio/flac": "flac",
    "audio/mp4": "m4a aac",
    "video/mp4": "mp4 m4v",
    "video/webm": "webm",
    "video/quicktime": "mov",
    "video/x-matroska": "mkv",
    "video/x-msvideo": "avi",
    "application/zip": "zip jar war whl apk",
    "application/gzip": "gz tgz",
    "application/x-tar": "tar",
    "application/x-bzip2": "bz2",
    "application/x-xz": "xz",
    "application/zstd": "zst",
    "application/x-7z-compressed": "7z",
    "application/vnd.rar": "rar",
    "font/ttf": "ttf otf ttc",
    "font/woff": "woff woff2",
    "application/vnd.sqlite3": "sqlite sqlite3 db",
    UNKNOWN: "exe dll so dylib o a lib bin class pyc pyo wasm iso img dmg parquet npy npz pkl onnx pt safetensors gguf",
}
_BY_SUFFIX: Final = {
    suffix: media_type
    for table in (_TEXT_SUFFIXES, _BINARY_SUFFIXES)
    for media_type, suffixes in table.items()
    for suffix in suffixes.split()
}
_BINARY: Final = frozenset(_BINARY_SUFFIXES)
_BY_NAME: Final = {"makefile": PLAIN, "dockerfile": PLAIN, ".gitconfig": "text/x-ini", ".editorconfig": "text/x-ini"}

_MAGIC: Final = (
    (b"%PDF-", "application/pdf", "a PDF"),
    (b"\x89PNG\r\n\x1a\n", "image/png", "a PNG image"),
    (b"\xff\xd8\xff", "image/jpeg", "a JPEG image"),
    (b"GIF87a", "image/gif", "a GIF image"),
    (b"GIF89a", "image/gif", "a GIF image"),
    (b"PK\x03\x04", "application/zip", "a ZIP archive"),
    (b"PK\x05\x06", "application/zip", "a ZIP archive"),
    (b"\x1f\x8b\x08", "application/gzip", "gzip data"),
    (b"BZh", "application/x-bzip2", "bzip2 data"),
    (b"\xfd7zXZ\x00", "application/x-xz", "xz data"),
    (b"\x28\xb5\x2f\xfd", "application/zstd", "zstd data"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed", "a 7z archive"),
    (b"Rar!\x1a\x07", "application/vnd.rar", "a RAR archive"),
    (b"\x7fELF", UNKNOWN, "a program"),
    (b"\xca\xfe\xba\xbe", UNKNOWN, "a program"),
    (b"\xcf\xfa\xed\xfe", UNKNOWN, "a program"),
    (b"\x00asm", UNKNOWN, "a program"),
    (b"SQLite format 3\x00", "application/vnd.sqlite3", "a SQLite database"),
    (b"OggS", "audio/ogg", "Ogg media"),
    (b"fLaC", "audio/flac", "FLAC audio"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage", "an old Office file or an encrypted one"),
)
_SIGNED_TEXT: Final = frozenset({"application/pdf"})  # formats whose bytes say what they are whatever the name
_CONTROL: Final = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_BOMS: Final = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_LOOKED_AT: Final = 8192


@dataclass(frozen=True, slots=True)
class Sniffed:
    """A media type, and why the bytes are no text when they are none."""

    media_type: str
    binary: str | None = None


def media_type_of(name: str) -> str | None:
    """By the name alone, upper or lower case; None when it says nothing."""
    lower = name.lower()
    stem, dot, suffix = lower.rpartition(".")
    if dot and (stem or suffix in ("gitconfig", "editorconfig")):
        return _BY_SUFFIX.get(suffix) or _BY_NAME.get(lower)
    return _BY_NAME.get(lower)


def sniff(name: str, content: bytes) -> Sniffed:
    """By the name; then the bytes are looked at, since a PNG may be called `.md` and a text anything."""
    named = media_type_of(name)
    if named in _BINARY and named is not None:
        return Sniffed(named, _words_for(named))
    for magic, media_type, words in _MAGIC:
        if content.startswith(magic):
            if media_type in _SIGNED_TEXT:
                return Sniffed(media_type, words)
            return Sniffed(media_type, f"binary content: {words}")
    reason = why_binary(content)
    if reason is not None:
        return Sniffed(named if named is not None and not content else UNKNOWN, reason)
    if named is not None:
        return Sniffed(named)
    head = content[:256].lstrip().lower()
    if head.startswith((b"<!doctype html", b"<html")):
        return Sniffed("text/html")
    if head.startswith(b"#!") and b"python" in head.split(b"\n", 1)[0]:
        return Sniffed("text/x-python")
    return Sniffed(PLAIN)


def why_binary(content: bytes) -> str | None:
    """Why bytes are not text of any charset; None when they may be."""
    head = content[:_LOOKED_AT]
    if head.startswith(_BOMS):
        return None
    if b"\x00" in head:
        return None if looks_like_utf16(head) else "binary content: NUL bytes"
    controls = len(_CONTROL.findall(head))
    if controls > 2 and controls * 50 > len(head):
        return "binary content: control characters"
    return None


def looks_like_utf16(head: bytes) -> str | None:
    """`utf-16-le` or `utf-16-be` when bytes without a mark read as text in it."""
    head = head[: len(head) // 2 * 2]
    if len(head) < 4:
        return None
    best: tuple[float, str] | None = None
    for charset in ("utf-16-le", "utf-16-be"):
        text = head.decode(charset, "replace")
        likely = sum(text.count(sign) for sign in " \n\r\t") * 2
        plain = sum(char.isascii() and (char.isprintable() or char in "\n\r\t") for char in text)
        letters = sum(0xC0 <= ord(char) <= 0x52F for char in text)
        share = (plain + letters) / len(text)
        if share > 0.85 and (likely or plain == len(text)) and (best is None or share > best[0]):
            best = (share, charset)
    return best[1] if best else None


def _words_for(media_type: str) -> str:
    kind = media_type.partition("/")[0]
    return {"image": "an image", "audio": "audio", "video": "video", "font": "a font"}.get(kind, "a binary format")

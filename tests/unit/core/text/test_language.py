from __future__ import annotations

import pytest

from armillary_core.text.language import Script, detect_language, script_of

SENTENCES = {
    "en": "The documents are kept in one folder, and they can be moved when the server is not running.",
    "de": "Die Dokumente liegen in einem Ordner und können verschoben werden, wenn der Server nicht läuft.",
    "fr": "Les documents sont conservés dans un dossier et ils peuvent être déplacés avec la commande suivante.",
    "es": "Los documentos se guardan en una carpeta y se pueden mover cuando el servidor no está en marcha.",
    "pt": "Os documentos são guardados em uma pasta e podem ser movidos quando o servidor não está ativo.",
    "it": "I documenti sono nella cartella e possono essere spostati quando il server non è attivo.",
    "nl": "De documenten staan in een map en kunnen worden verplaatst als de server niet draait.",
    "sv": "Dokumenten ligger i en mapp och kan flyttas när servern inte är igång, men det är inte alltid så.",
    "fi": "Asiakirjat ovat kansiossa, ja ne voi siirtää, kun palvelin ei ole käynnissä, mutta se on hidasta.",
    "pl": "Dokumenty są w folderze i można je przenieść, gdy serwer nie jest włączony, ale nie jest to konieczne.",
    "tr": "Belgeler bir klasörde tutulur ve sunucu ile birlikte taşınabilir, ancak bu her zaman gerekli değil.",
    "ru": "Документы хранятся в папке, и их можно перенести, если сервер не запущен.",
    "uk": "Документи зберігаються в теці, і їх можна перенести, якщо сервер не працює, але це не завжди так.",
    "el": "Τα έγγραφα βρίσκονται σε έναν φάκελο.",
    "zh": "文档保存在一个文件夹里。",
    "ja": "ドキュメントはフォルダーに保存されます。",
    "ko": "문서는 폴더에 저장됩니다.",
    "ar": "الوثائق موجودة في مجلد واحد على الخادم من أجل النقل إلى مكان آخر.",
    "hi": "दस्तावेज़ एक फ़ोल्डर में हैं और उन को सर्वर के साथ ले जाया जा सकता है।",
}


@pytest.mark.parametrize("language", SENTENCES)
def test_a_sentence_tells_its_language(language: str) -> None:
    assert detect_language(SENTENCES[language]) == language


@pytest.mark.parametrize(
    "text",
    ["", "   ", "12345 --- !!!", "Häuser", "x = foo(bar)\nz: s.k(v)\na, e, i, o = y\n", "kubectl nginx redis tar gzip"],
)
def test_too_little_says_nothing(text: str) -> None:
    assert detect_language(text) is None


def test_code_and_links_in_a_page_do_not_hide_its_language() -> None:
    page = f"# Titel\n\n```sh\nls the of and to in is that it for was on are\n```\n\n{SENTENCES['de']} https://the.of/and/to"
    assert detect_language(page) == "de"


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("hello", Script.LATIN),
        ("größe", Script.LATIN),
        ("привет, world", Script.CYRILLIC),
        ("東京", Script.HAN),
        ("東京の天気", Script.KANA),
        ("서울", Script.HANGUL),
        ("123", Script.NONE),
        ("🚀", Script.NONE),
        ("שלום", Script.HEBREW),
    ],
)
def test_the_script_is_what_most_letters_are_in(text: str, script: Script) -> None:
    assert script_of(text) is script

"""Where a passage lies in the file as it was judged: extraction may have changed characters before it."""

from __future__ import annotations

from armillary_cli.evaluation.judged_sets import Unpacked
from armillary_core.bootstrap.container import Core
from armillary_core.domain.document import DocumentId, decode_path, split_id
from armillary_core.domain.passage import Passage
from armillary_core.domain.project import ProjectName


class Places:
    def __init__(self, core: Core, unpacked: Unpacked) -> None:
        self._core = core
        self._unpacked = unpacked
        self._maps: dict[DocumentId, tuple[str, list[int] | None]] = {}

    def of(self, passage: Passage) -> dict[str, str | int] | None:
        identifier, offsets = self._map(passage.document)
        start, end = passage.start, passage.end
        if offsets is not None:
            start, end = offsets[min(start, len(offsets) - 1)], offsets[min(end, len(offsets) - 1)]
        return {"doc": identifier, "start": start, "end": end}

    def _map(self, document: DocumentId) -> tuple[str, list[int] | None]:
        if document not in self._maps:
            self._maps[document] = self._build(document)
        return self._maps[document]

    def _build(self, document: DocumentId) -> tuple[str, list[int] | None]:
        split = split_id(document)
        assert split is not None
        project, path, _ = split
        raw = decode_path(path)
        found = self._core.catalogue.documents.find(ProjectName(project), raw)
        assert found is not None
        extracted = self._core.catalogue.documents.text(found.pk) or ""
        name = raw.decode("utf-8", "replace")
        original = (self._unpacked.root("") / name).read_text(encoding="utf-8", errors="replace")
        identifier = self._unpacked.ids[("", name)]
        return identifier, None if extracted == original else align(extracted, original)


def align(extracted: str, original: str) -> list[int]:
    """For every character of the extracted text, and its end, the place in the original that it came from."""
    places: list[int] = []
    at = 0
    for line in extracted.splitlines(keepends=True):
        found = original.find(line.strip(), at) if line.strip() else -1
        if 0 <= found < at + 20_000:
            lead = len(line) - len(line.lstrip())
            places.extend(max(found - lead + offset, at) for offset in range(len(line)))
            at = min(found + len(line) - lead, len(original))
        else:
            places.extend([at] * len(line))
    return [*(min(place, len(original)) for place in places), min(at, len(original))]

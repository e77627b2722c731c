"""A process that writes into a catalogue and says each thing once it was accepted.

`writer.py TASK FOLDER PROJECT ROUNDS`, where TASK is `cards`, `documents` or `all`.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from armillary_core.adapters.catalogue.sqlite import SqliteCatalogue
from armillary_core.domain.card import CardChange
from armillary_core.domain.project import ProjectName
from factories import make_indexed, make_stamp


def text_of(number: int, version: int) -> str:
    return "".join(f"# Chapter {part} of {number}\nversion {version} word{version}\n" for part in range(4))


def store(catalogue: SqliteCatalogue, project: ProjectName, version: int, count: int) -> list[int]:
    rows = [(b"%d" % number, make_stamp(), make_indexed(text_of(number, version))) for number in range(count)]
    return catalogue.ingest.store(project, rows)


def run(task: str, folder: Path, project: ProjectName, rounds: int) -> None:
    catalogue = SqliteCatalogue.open(folder / "catalogue.sqlite3")
    catalogue.projects.put(project, root=f"/{project}")
    first = store(catalogue, project, 0, 1)[0] if task == "cards" else 0
    for version in range(rounds):
        if task != "cards":
            first = store(catalogue, project, version, 20 if task == "all" else 120)[0]
            print("stored", version, flush=True)
        if task != "documents":
            summary = f"{project}-{version}"
            catalogue.cards.update(first, CardChange(summary=summary), by=project, at=float(version))
            print("card", summary, flush=True)
    catalogue.close()


if __name__ == "__main__":
    run(sys.argv[1], Path(sys.argv[2]), ProjectName(sys.argv[3]), int(sys.argv[4]))

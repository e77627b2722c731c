"""Generations, tokens, secrets and backups."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from armillary_core.domain.errors import ConflictError, NotFoundError
from armillary_core.domain.project import ProjectName
from armillary_core.domain.token import Right
from armillary_core.ports.catalogue import Catalogue
from armillary_core.ports.catalogue.outbox import Engine
from factories import make_indexed, make_stamp

NOTES = ProjectName("notes")
DIGEST = hashlib.sha256(b"secret").hexdigest()


def test_a_generation_is_built_beside_the_current_one(catalogue: Catalogue) -> None:
    assert catalogue.generations.current(Engine.CHUNKS) is None
    first = catalogue.generations.start(Engine.CHUNKS, "v1", at=1.0)
    assert catalogue.generations.start(Engine.CHUNKS, "v1", at=2.0) == first
    assert first.state == "building"
    catalogue.generations.make_current(first.id)
    second = catalogue.generations.start(Engine.CHUNKS, "v2", at=3.0)

    assert second.id != first.id
    assert catalogue.generations.current(Engine.CARDS) is None
    current = catalogue.generations.current(Engine.CHUNKS)
    assert current is not None
    assert current.id == first.id

    catalogue.generations.make_current(second.id)
    assert [(each.id, each.state) for each in catalogue.generations.all(Engine.CHUNKS)] == [
        (first.id, "old"),
        (second.id, "current"),
    ]
    catalogue.generations.make_current(second.id)
    catalogue.generations.set_counts(second.id, expected=5, present=4, at=9.0)
    current = catalogue.generations.current(Engine.CHUNKS)
    assert current is not None
    assert (current.expected, current.present, current.counted_at) == (5, 4, 9.0)

    catalogue.generations.remove(first.id)
    assert [each.id for each in catalogue.generations.all(Engine.CHUNKS)] == [second.id]
    with pytest.raises(NotFoundError):
        catalogue.generations.make_current(first.id)


def test_a_token_is_found_by_its_digest_even_when_expired(catalogue: Catalogue) -> None:
    assert not catalogue.tokens.any_exist()
    made = catalogue.tokens.add(
        "laptop", DIGEST, rights=[Right.READ, Right.ENRICH], projects=[NOTES], expires_at=2.0, at=1.0
    )

    assert catalogue.tokens.by_digest(DIGEST) == made
    assert (made.rights, made.projects, made.expires_at) == (frozenset({Right.READ, Right.ENRICH}), (NOTES,), 2.0)
    assert catalogue.tokens.by_digest(DIGEST[:-1]) is None
    assert catalogue.tokens.by_digest("") is None
    assert catalogue.tokens.any_exist()
    shared = catalogue.tokens.add("desk", "00", rights=[Right.READ], at=1.0)
    assert shared.projects is None
    none = catalogue.tokens.add("nothing", "01", rights=[Right.READ], projects=[], at=1.0)
    assert none.projects == ()
    assert [token.name for token in catalogue.tokens.all()] == ["desk", "laptop", "nothing"]


def test_a_token_name_is_taken_until_it_is_revoked(catalogue: Catalogue) -> None:
    first = catalogue.tokens.add("laptop", DIGEST, rights=[Right.READ], at=1.0)
    with pytest.raises(ConflictError, match="laptop"):
        catalogue.tokens.add("laptop", "00", rights=[Right.READ], at=1.0)

    assert catalogue.tokens.revoke("laptop")
    assert not catalogue.tokens.revoke("laptop")
    assert catalogue.tokens.by_digest(DIGEST) is None
    assert catalogue.tokens.add("laptop", DIGEST, rights=[Right.READ], at=2.0).id != first.id


def test_last_seen_is_written_at_most_once_a_minute(catalogue: Catalogue) -> None:
    token = catalogue.tokens.add("laptop", DIGEST, rights=[Right.READ], at=1.0)

    seen = []
    for at in (100.0, 130.0, 159.0, 160.0):
        catalogue.tokens.seen(token.id, at=at)
        now = catalogue.tokens.by_digest(DIGEST)
        assert now is not None
        seen.append(now.last_seen)
    assert seen == [100.0, 100.0, 100.0, 160.0]
    catalogue.tokens.seen(999, at=1.0)


def test_a_secret_is_made_once(catalogue: Catalogue, open_catalogue: Callable[[], Catalogue]) -> None:
    made = catalogue.secret("cursor")

    assert len(made) == 32
    assert catalogue.secret("cursor") == open_catalogue().secret("cursor") == made
    assert catalogue.secret("another") != made
    assert open_catalogue().secret("another") == catalogue.secret("another")


def test_a_backup_never_overwrites(catalogue: Catalogue, tmp_path: Path) -> None:
    target = tmp_path / "backup"
    catalogue.ingest.store(NOTES, [(b"a", make_stamp(), make_indexed())])
    target.write_text("precious", encoding="utf-8")

    with pytest.raises(ConflictError):
        catalogue.backup(str(target))

    assert target.read_text(encoding="utf-8") == "precious"
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["backup"]

from __future__ import annotations

import pytest

from armillary_core.domain.errors import (
    AccessDeniedError,
    ConflictError,
    InvalidRequestError,
    NotFoundError,
    ProjectNotFoundError,
)
from armillary_core.domain.project import ProjectName
from armillary_core.domain.token import LOCAL_OWNER, Caller, Right
from armillary_core.usecases.tokens import Tokens, digest
from shelves import Shelf


@pytest.fixture
def tokens(shelf: Shelf) -> Tokens:
    shelf.project("open")
    shelf.project("secret", private=True)
    return Tokens(shelf.catalogue, shelf.clock)


def test_a_secret_is_shown_once_and_only_its_digest_is_kept(tokens: Tokens, shelf: Shelf) -> None:
    made = tokens.create("laptop", LOCAL_OWNER)
    assert made.secret.startswith("arm_") and len(made.secret) == 47
    assert made.token.digest == digest(made.secret)
    assert made.secret not in repr(tokens.all(LOCAL_OWNER))
    shelf.catalogue.close()
    stored = b"".join(path.read_bytes() for path in shelf.catalogue._database.path.parent.iterdir())
    assert made.secret.encode() not in stored and made.token.digest.encode() in stored


def test_two_secrets_differ(tokens: Tokens) -> None:
    assert tokens.create("a", LOCAL_OWNER).secret != tokens.create("b", LOCAL_OWNER).secret


@pytest.mark.parametrize(
    ("asked", "granted"),
    [
        ([Right.READ], {"read"}),
        ([Right.ENRICH], {"read", "enrich"}),
        ([Right.MANAGE], {"read", "enrich", "manage"}),
    ],
)
def test_a_right_brings_those_below_it(tokens: Tokens, asked: list[Right], granted: set[str]) -> None:
    made = tokens.create("t", LOCAL_OWNER, rights=asked)
    caller = tokens.authenticate(made.secret)
    assert caller is not None
    assert caller == Caller("t", frozenset(map(Right, granted)), None)
    assert not caller.sees_private


def test_a_token_ends_when_it_expires(tokens: Tokens, shelf: Shelf) -> None:
    secret = tokens.create("short", LOCAL_OWNER, days=1).secret
    shelf.clock.advance(86_399)
    assert tokens.authenticate(secret) is not None
    shelf.clock.advance(1)
    assert tokens.authenticate(secret) is None


def test_a_revoked_token_is_refused_at_once(tokens: Tokens) -> None:
    secret = tokens.create("gone", LOCAL_OWNER).secret
    tokens.revoke("gone", LOCAL_OWNER)
    assert tokens.authenticate(secret) is None
    with pytest.raises(NotFoundError, match=r'No token "gone"\. Tokens: none\.'):
        tokens.revoke("gone", LOCAL_OWNER)


@pytest.mark.parametrize("secret", ["", "arm_", "x" * 100_000, "arm_" + "A" * 43, "\ud800", "é"])
def test_an_unknown_secret_is_nobody(tokens: Tokens, secret: str) -> None:
    tokens.create("somebody", LOCAL_OWNER)
    assert tokens.authenticate(secret) is None


def test_it_is_known_when_a_token_was_last_seen(tokens: Tokens, shelf: Shelf) -> None:
    secret = tokens.create("seen", LOCAL_OWNER).secret
    assert tokens.all(LOCAL_OWNER)[0].last_seen is None
    tokens.authenticate(secret)
    first = tokens.all(LOCAL_OWNER)[0].last_seen
    assert first == shelf.clock.now()
    shelf.clock.advance(30)
    tokens.authenticate(secret)
    assert tokens.all(LOCAL_OWNER)[0].last_seen == first
    shelf.clock.advance(31)
    tokens.authenticate(secret)
    assert tokens.all(LOCAL_OWNER)[0].last_seen == shelf.clock.now()


def test_a_private_project_is_seen_only_when_it_is_named(tokens: Tokens) -> None:
    named = tokens.authenticate(tokens.create("named", LOCAL_OWNER, projects=["secret"]).secret)
    assert named is not None and named.projects == ("secret",)
    manager = tokens.authenticate(tokens.create("manager", LOCAL_OWNER, rights=[Right.MANAGE]).secret)
    assert manager is not None
    with pytest.raises(ProjectNotFoundError):
        tokens.create("more", manager, projects=["secret"])


def test_a_manager_of_some_projects_cannot_make_a_token_for_others(tokens: Tokens) -> None:
    manager = Caller("some", projects=(ProjectName("open"),))
    assert tokens.create("child", manager).token.projects == ("open",)
    with pytest.raises(ProjectNotFoundError):
        tokens.create("wide", manager, projects=["secret"])


@pytest.mark.parametrize(
    "wanted",
    [
        {"name": ""},
        {"name": " "},
        {"name": "x" * 65},
        {"name": "a\nb"},
        {"name": "-x"},
        {"rights": []},
        {"days": 0},
        {"days": -1},
        {"projects": []},
    ],
)
def test_what_makes_no_sense_is_refused(tokens: Tokens, wanted: dict[str, object]) -> None:
    arguments: dict[str, object] = {"name": "fine"} | wanted
    name = str(arguments.pop("name"))
    with pytest.raises(InvalidRequestError):
        tokens.create(name, LOCAL_OWNER, **arguments)  # type: ignore[arg-type]  # named by the test


def test_a_name_is_taken_once(tokens: Tokens) -> None:
    tokens.create("twice", LOCAL_OWNER)
    with pytest.raises(ConflictError):
        tokens.create("twice", LOCAL_OWNER)


def test_the_right_to_manage_is_needed(tokens: Tokens) -> None:
    writer = Caller("writer", frozenset({Right.READ, Right.ENRICH}))
    for act in (lambda: tokens.create("x", writer), lambda: tokens.all(writer), lambda: tokens.revoke("x", writer)):
        with pytest.raises(AccessDeniedError):
            act()

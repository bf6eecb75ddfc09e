"""Cache, mirror and upstream: what arrives is right or a clear message, never a bad cache."""

from __future__ import annotations

import gzip
import logging
import re
import shutil
import threading
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from data_fakes import NOWHERE, TOY_DIGEST, TOY_TEXT, toy_config

from mklbench.data import load
from mklbench.data.catalogue import fetch, verify
from mklbench.data.files import cache_directory, download_timeout, mirror_location
from mklbench.errors import DataError, InputError

CONTENT = TOY_TEXT.encode()


class Server:
    """A web server with a path for each way in which a download can go."""

    def __init__(self) -> None:
        self.requests: Counter[str] = Counter()
        self.release = threading.Event()  # lets the stalled answers end
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                owner.requests[self.path] += 1
                owner.answer(self)

            def log_message(self, format: str, *args: object) -> None:
                """Keep the test's output clean."""

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )
        self._thread.start()

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        directory = handler.path.split("/")[1]
        if directory == "absent":
            handler.send_error(404)
            return
        body = {
            "altered": CONTENT.replace(b"2.25", b"2.26"),
            "short": CONTENT.splitlines(keepends=True)[0] * 2,
            "page": b"<html><body>Please log in</body></html>\n",
            "crlf": CONTENT.replace(b"\n", b"\r\n"),
            "gz": gzip.compress(CONTENT),
        }.get(directory, CONTENT)
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        if directory in ("stalled", "truncated"):
            handler.wfile.write(body[: len(body) // 2])
            handler.wfile.flush()
            if directory == "stalled":
                self.release.wait(30)
        else:
            handler.wfile.write(body)

    def close(self) -> None:
        self.release.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.close()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and no mirror or proxy from the environment."""
    for variable in ("MKLBENCH_MIRROR", "MKLBENCH_TIMEOUT", "HTTP_PROXY", "http_proxy"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("MKLBENCH_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def files_in(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.rglob("*") if path.is_file())


def test_a_download_is_verified_kept_and_not_repeated(server: Server, cache: Path) -> None:
    config = toy_config(f"{server.url}/good/toy.data")
    first = load(config)
    second = load(config)
    assert first.digest == second.digest == TOY_DIGEST
    assert first.source == f"{server.url}/good/toy.data"
    assert second.source == str(cache / "toy" / "toy.data")
    assert (cache / "toy" / "toy.data").read_bytes() == CONTENT
    assert server.requests.total() == 1


@pytest.mark.parametrize("form", ["crlf", "gz"])
def test_a_change_of_form_is_no_error(server: Server, cache: Path, form: str) -> None:
    config = toy_config(f"{server.url}/{form}/toy.data")
    assert load(config).digest == load(config).digest == TOY_DIGEST
    assert server.requests.total() == 1  # the second came from the cache


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("absent", "HTTP status 404"),
        ("truncated", "cannot be downloaded: "),
        ("stalled", "no connection"),
        ("altered", "numbers that differ from the published ones"),
        ("short", "has one class only"),
        ("page", "a web page"),
    ],
)
def test_a_bad_download_is_named_and_never_kept(
    server: Server, cache: Path, fault: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MKLBENCH_TIMEOUT", "0.3")
    url = f"{server.url}/{fault}/toy.data"
    with pytest.raises(DataError, match=reason) as caught:
        load(toy_config(url))
    message = str(caught.value)
    assert message.startswith("data=toy could not be had from cache ")
    assert url in message
    assert "MKLBENCH_MIRROR" in message
    assert message.count(url) == 1
    assert files_in(cache) == []


@pytest.mark.parametrize("fault", ["absent", "truncated", "stalled", "altered"])
def test_the_next_source_makes_good_for_a_bad_one(
    server: Server, cache: Path, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MKLBENCH_TIMEOUT", "0.3")
    config = toy_config(f"{server.url}/{fault}/toy.data", f"{server.url}/good/toy.data")
    dataset = load(config)
    assert dataset.digest == TOY_DIGEST
    assert dataset.source == f"{server.url}/good/toy.data"
    assert (cache / "toy" / "toy.data").read_bytes() == CONTENT


def test_no_network_is_one_sentence_that_lists_what_was_tried(cache: Path) -> None:
    with pytest.raises(DataError) as caught:
        load(toy_config(f"{NOWHERE}/toy.data"))
    assert str(caught.value) == (
        f"data=toy could not be had from cache {cache}/toy/toy.data (does not exist); "
        f"upstream {NOWHERE}/toy.data (no connection): check the network, or set MKLBENCH_MIRROR "
        f"to a directory or URL that has it."
    )


def test_a_mirror_directory_is_read_in_place(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MKLBENCH_MIRROR", str(tmp_path / "mirror"))
    mirrored = tmp_path / "mirror" / "toy" / "toy.data"
    mirrored.parent.mkdir(parents=True)
    mirrored.write_bytes(CONTENT)
    dataset = load(toy_config(f"{NOWHERE}/toy.data"))
    assert dataset.digest == TOY_DIGEST
    assert dataset.source == str(mirrored)
    assert files_in(cache) == []


def test_a_mirror_url_is_downloaded_to_the_cache(
    server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MKLBENCH_MIRROR", f"{server.url}/good/")
    config = toy_config(f"{NOWHERE}/toy.data")
    assert load(config).source == f"{server.url}/good/toy/toy.data"
    assert load(config).source == str(cache / "toy" / "toy.data")


@pytest.mark.parametrize(
    "value", ["/no/such/directory", "/dev/null", "ftp://host/data", "~no-such-user/data", "n" * 300]
)
def test_a_wrong_mirror_is_named_even_when_the_data_are_cached(
    server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    config = toy_config(f"{server.url}/good/toy.data")
    load(config)
    monkeypatch.setenv("MKLBENCH_MIRROR", value)
    with pytest.raises(InputError, match=re.escape(f"MKLBENCH_MIRROR={value} ")):
        load(config)


@pytest.mark.parametrize(
    "damage", [CONTENT[:30], CONTENT.replace(b"7.0", b"7.1"), b"", b"\x1f\x8b"]
)
def test_a_damaged_cache_is_refetched_and_replaced(
    server: Server, cache: Path, damage: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    cached = cache / "toy" / "toy.data"
    cached.parent.mkdir(parents=True)
    cached.write_bytes(damage)
    with caplog.at_level(logging.WARNING):
        assert load(toy_config(f"{server.url}/good/toy.data")).digest == TOY_DIGEST
    assert f"passed over cache {cached}" in caplog.text
    assert cached.read_bytes() == CONTENT


def test_a_cache_that_cannot_be_written_is_done_without(
    server: Server,
    tmp_path: Path,
    cache: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # A path below a regular file cannot be made a directory, by root neither.
    (tmp_path / "file").write_text("in the way")
    unwritable = tmp_path / "file" / "cache"
    monkeypatch.setenv("MKLBENCH_CACHE", str(unwritable))
    config = toy_config(f"{server.url}/good/toy.data")
    with caplog.at_level(logging.WARNING):
        assert load(config).digest == TOY_DIGEST
    assert [record.message for record in caplog.records] == [
        f"The download cache {unwritable}/toy cannot be written (Not a directory): set "
        "MKLBENCH_CACHE to a directory you can write to. The file is used without a copy."
    ]
    with pytest.raises(DataError, match=f"{unwritable}/toy cannot be written"):
        fetch(config)


def test_fetch_copies_a_mirror_directory_so_that_it_can_go_away(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mirror = tmp_path / "mirror"
    monkeypatch.setenv("MKLBENCH_MIRROR", str(mirror))
    (mirror / "toy").mkdir(parents=True)
    (mirror / "toy" / "toy.data").write_bytes(CONTENT)
    config = toy_config(f"{NOWHERE}/toy.data")
    assert fetch(config).startswith("fetched (")
    assert fetch(config).startswith("cached (")
    shutil.rmtree(mirror)
    monkeypatch.delenv("MKLBENCH_MIRROR")
    assert load(config).digest == TOY_DIGEST


def test_verify_tells_good_damaged_and_absent_copies_apart(
    server: Server, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = toy_config(f"{server.url}/good/toy.data")
    mirror = tmp_path / "mirror" / "toy" / "toy.data"
    mirror.parent.mkdir(parents=True)
    mirror.write_bytes(CONTENT.replace(b"7.0", b"7.1"))
    monkeypatch.setenv("MKLBENCH_MIRROR", str(mirror.parents[1]))
    status = {copy.place: copy.status for copy in verify(config)}
    assert status == {"cache": "absent", "mirror": "damaged"}
    fetch(config)
    monkeypatch.setenv("MKLBENCH_MIRROR", NOWHERE)
    status = {copy.place: copy.status for copy in verify(config)}
    assert status == {"cache": "ok", "mirror": "absent"}
    assert server.requests.total() == 1  # verify does not ask upstream


def test_the_parsed_arrays_are_those_of_the_file(server: Server, cache: Path) -> None:
    dataset = load(toy_config(f"{server.url}/good/toy.data"))
    np.testing.assert_array_equal(
        dataset.X, [[1, 0, 5.5], [2, 0, -1.5], [3.5, 0, 2.25], [0.5, 0, 0.001], [-4, 0, 7]]
    )
    np.testing.assert_array_equal(dataset.y, [0, 1, 1, 0, 1])
    assert dataset.classes == ("b", "g")
    assert dataset.class_counts == {"b": 2, "g": 3}
    assert not dataset.X.flags.writeable


def test_the_cache_is_the_variable_then_the_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MKLBENCH_CACHE", str(tmp_path / "variable"))
    assert cache_directory() == tmp_path / "variable"
    monkeypatch.delenv("MKLBENCH_CACHE")
    assert cache_directory() == Path(__file__).resolve().parents[2] / "datasets" / "cache"
    installed = tmp_path / "site-packages" / "mklbench" / "data" / "settings.py"
    monkeypatch.setattr("mklbench.resources._PACKAGE", installed.parents[1])
    assert cache_directory().name == "mklbench"


def test_settings_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MKLBENCH_MIRROR", raising=False)
    monkeypatch.setenv("MKLBENCH_TIMEOUT", "2.5")
    assert mirror_location() is None
    assert download_timeout() == 2.5
    for value in ("soon", "0", "-1", "nan", "inf"):
        monkeypatch.setenv("MKLBENCH_TIMEOUT", value)
        with pytest.raises(InputError, match=f"MKLBENCH_TIMEOUT={value} must be a positive"):
            download_timeout()

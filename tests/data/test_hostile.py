"""Servers that misbehave: every download ends, in one sentence, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import socket
import ssl
import subprocess
import sys
import threading
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme
import yaml
from data_fakes import NOWHERE, TOY_DIGEST, TOY_TEXT, toy_config
from experiment_fakes import wait_until
from hostile_servers import BEHAVIOURS, ENDLESS, SOUND, HostileServer

from mklbench.data import load
from mklbench.errors import DataError

DEADLINE = 0.4


@pytest.fixture(scope="module")
def server() -> Iterator[HostileServer]:
    with HostileServer(TOY_TEXT.encode()) as running:
        yield running


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and nothing else from the environment."""
    for variable in ("MKLBENCH_MIRROR", "HTTP_PROXY", "http_proxy"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("MKLBENCH_TIMEOUT", "60")
    monkeypatch.setenv("MKLBENCH_DOWNLOAD_SECONDS", "60")
    monkeypatch.setenv("MKLBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("mklbench.data.transfer.PAUSES", (0.01, 0.01))
    return tmp_path / "cache"


@pytest.fixture
def deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a download take `DEADLINE` seconds."""
    monkeypatch.setenv("MKLBENCH_DOWNLOAD_SECONDS", str(DEADLINE))


def refusal(url: str) -> str:
    with pytest.raises(DataError) as caught:
        load(toy_config(url))
    return str(caught.value)


LATE = f"not finished within {DEADLINE} s, the limit of MKLBENCH_DOWNLOAD_SECONDS"
LARGE = "more than the 1 MB it may (++data.max_bytes=N allows N bytes)"
REASONS = {
    **dict.fromkeys(ENDLESS, LATE),
    "endless_body": f"sends {LARGE}",
    "endless_chunks": f"sends {LARGE}",
    "endless_chunk_size": "what it answers is not HTTP",  # or, of an older urllib3, too large
    "endless_error_body": "HTTP status 403",
    "terabyte": f"announces 1,000 GB, {LARGE}",
    "length_of_letters": "answers with Content-Length 'abc', no number of bytes",
    "negative_length": "answers with Content-Length '-5', no number of bytes",
    "long_length": f"answers with Content-Length '{'9' * 40}', no number of bytes",
    "two_lengths": "what it answers is not HTTP",
    "truncated": "the transfer broke off before its end",
    "truncated_chunks": "the transfer broke off before its end",
    "chunk_size_of_letters": "the transfer broke off before its end",
    "reset": "the connection was cut",
    "nothing": "the connection was cut",
    "not_http": "what it answers is not HTTP",
    "long_header": "what it answers is not HTTP",
    "many_headers": "what it answers is not HTTP",
    "redirect_loop": "redirects more than 10 times",
    "redirect_to_file": "redirects to file:///etc/hostname, which is not http or https",
    "redirect_to_ftp": "redirects to ftp://127.0.0.1/toy.data, which is not http or https",
    "redirect_to_nothing": "redirects more than 10 times",
    "redirect_to_bytes": "no connection",
    "unknown_coding": "answers in the content coding 'br', not asked for",
    "damaged_coding": "its gzip coding is damaged (",
    "coded_bomb": f"unpacks to {LARGE}",
    "gzip_bomb": f"unpacks to {LARGE}",
    "xz_bomb": f"unpacks to {LARGE}",
    "bzip2_bomb": f"unpacks to {LARGE}",
    "absent": "HTTP status 404",
    "forbidden": "HTTP status 403",
    "no_content": "HTTP status 204",
    "failing": "HTTP status 500",
    "unavailable": "HTTP status 503",
    "page": "has a single column",
    "altered": "has numbers that differ from the published ones",
    "empty": "holds no rows of data",
}


@pytest.mark.parametrize("fault", [name for name in BEHAVIOURS if name not in SOUND])
def test_a_server_that_misbehaves_is_passed_over(
    server: HostileServer, cache: Path, fault: str, request: pytest.FixtureRequest
) -> None:
    url = f"{server.url}/{fault}/toy.data"
    if REASONS[fault] == LATE:
        request.getfixturevalue("deadline")
    message = refusal(url)
    reasons = [REASONS[fault], *([f"sends {LARGE}"] if fault == "endless_chunk_size" else [])]
    assert any(f"upstream {url} ({reason}" in message for reason in reasons)
    assert message.endswith("that has toy/toy.data.")
    assert "\n" not in message
    assert not [path for path in cache.rglob("*") if path.is_file()]


@pytest.mark.parametrize("form", SOUND)
def test_an_unusual_answer_with_the_file_is_taken(
    server: HostileServer, cache: Path, form: str
) -> None:
    assert load(toy_config(f"{server.url}/{form}/toy.data")).digest == TOY_DIGEST
    assert (cache / "toy" / "toy.data").read_bytes() == TOY_TEXT.encode()


@pytest.mark.parametrize("fault", ["xz_bomb", "coded_bomb"])
def test_a_bomb_takes_no_memory(server: HostileServer, fault: str) -> None:
    refusal(f"{server.url}/{fault}/toy.data")  # imports what it needs, and packs the bomb
    tracemalloc.start()
    refusal(f"{server.url}/{fault}/toy.data")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 24e6  # it unpacks to a gigabyte


def test_a_fault_that_passes_is_tried_again(server: HostileServer) -> None:
    path = "/good/passing.data"
    server.failing = 2
    assert load(toy_config(f"{server.url}{path}")).digest == TOY_DIGEST
    assert server.requests[path] == 3


@pytest.mark.parametrize(("fault", "n_requests"), [("failing", 3), ("reset", 3), ("absent", 1)])
def test_attempts_are_few(server: HostileServer, fault: str, n_requests: int) -> None:
    path = f"/{fault}/counted.data"
    refusal(f"{server.url}{path}")
    assert server.requests[path] == n_requests


@pytest.mark.usefixtures("deadline")
def test_a_passing_fault_is_not_waited_for_beyond_the_deadline(
    server: HostileServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mklbench.data.transfer.PAUSES", (600.0,))
    assert LATE in refusal(f"{server.url}/failing/toy.data")


def test_a_name_without_an_address_is_said_to_be_one() -> None:
    message = refusal("http://no-such-host.invalid/toy.data")
    assert "no connection, as the name of its host is not known" in message


@pytest.mark.usefixtures("deadline")
def test_a_search_for_an_address_that_hangs_ends_at_the_deadline(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    released = threading.Event()
    monkeypatch.setattr("socket.getaddrinfo", lambda *_, **__: released.wait(600) or [])
    assert LATE in refusal("http://slow-host.invalid/toy.data")
    released.set()


def test_a_server_without_tls(server: HostileServer) -> None:
    url = f"https://{server.url.removeprefix('http://')}/good/toy.data"
    assert "its TLS connection fails" in refusal(url)


def test_tls(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The limits hold behind TLS; a certificate that nobody signed is said to be one."""
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    with HostileServer(TOY_TEXT.encode(), context) as server:
        message = refusal(f"{server.url}/good/toy.data")
        assert "its certificate is not accepted: " in message
        authority.cert_pem.write_to_path(str(tmp_path / "authority.pem"))
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path / "authority.pem"))
        assert load(toy_config(f"{server.url}/good/toy.data")).digest == TOY_DIGEST
        for fault in ("trickled_header", "trickled_body", "endless_body", "terabyte", "reset"):
            config = toy_config(f"{server.url}/{fault}/new.data")
            config["sources"][0] = {"mirror": "toy/new.data"}
            seconds = DEADLINE if REASONS[fault] == LATE else 60
            monkeypatch.setenv("MKLBENCH_DOWNLOAD_SECONDS", str(seconds))
            with pytest.raises(DataError) as caught:
                load(config)
            assert f"({REASONS[fault]}" in str(caught.value)


@pytest.mark.usefixtures("deadline")
def test_a_handshake_that_does_not_end() -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:
        assert LATE in refusal(f"https://127.0.0.1:{mute.getsockname()[1]}/toy.data")


def test_an_interrupt_ends_a_download(server: HostileServer, cache: Path) -> None:
    path = "/trickled_body/interrupted.data"

    def interrupt() -> None:
        wait_until(lambda: server.requests[path] == 1)
        os.kill(os.getpid(), signal.SIGINT)

    interrupting = threading.Thread(target=interrupt)
    interrupting.start()
    with pytest.raises(KeyboardInterrupt):
        load(toy_config(f"{server.url}{path}"))
    interrupting.join()
    assert not list(cache.rglob("*.part"))


@pytest.mark.usefixtures("deadline")
def test_the_command_line_ends_with_status_2(server: HostileServer, tmp_path: Path) -> None:
    """One sentence, no traceback, and a process that does not wait for the thread it left."""
    configs = tmp_path / "configs" / "data"
    configs.mkdir(parents=True)
    config = toy_config(f"{server.url}/trickled_header/toy.data")
    (configs / "toy.yaml").write_text(yaml.safe_dump(config))
    ended = subprocess.run(
        [
            *(sys.executable, "-m", "mklbench", "run", "data=toy", "algo=svm"),
            *("--config-dir", str(configs.parent), f"results_dir={tmp_path / 'store'}"),
        ],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ended.returncode == 2
    assert ended.stderr.startswith("mklbench: error: data=toy could not be had from cache ")
    assert ended.stderr.count("\n") == 1
    assert LATE in ended.stderr


def test_a_dead_mirror_is_passed_over(
    server: HostileServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MKLBENCH_MIRROR", NOWHERE)
    assert load(toy_config(f"{server.url}/good/toy.data")).digest == TOY_DIGEST


def test_a_limit_can_be_raised_and_lowered(server: HostileServer) -> None:
    url = f"{server.url}/good/toy.data"
    assert load(toy_config(url, max_bytes=len(TOY_TEXT))).digest == TOY_DIGEST
    with pytest.raises(DataError, match=r"holds 6.4e-05 MB, more than"):
        load(toy_config(url, max_bytes=len(TOY_TEXT) - 1))  # the copy in the cache

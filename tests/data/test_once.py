"""Of many processes on one cache one downloads or computes what is missing; the others wait."""

from __future__ import annotations

import io
import multiprocessing
import os
import signal
import tarfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from data_fakes import (
    TOY_DIGEST,
    TOY_TEXT,
    benchmark_config,
    benchmarks_file,
    toy_benchmark,
    toy_config,
)
from narrowing import present

from mklbench import claims
from mklbench.claims import Owner
from mklbench.data import cache as once
from mklbench.data import fetch, image_descriptors, is_at_hand, load, settle
from mklbench.data.cache import made_once
from mklbench.errors import DataError

SPAWN = multiprocessing.get_context("spawn")  # forking a process with threads is unsafe
OFFICIAL = benchmarks_file(toy=toy_benchmark())


class Server:
    """A web server that counts, and lets its first answers fail or wait."""

    def __init__(self) -> None:
        self.requests: Counter[str] = Counter()
        self.pause = 1.0
        self.n_absent = 0  # so many answers are that there is no such file
        self.n_held = 0  # so many answers wait for `release`
        self.release = threading.Event()
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                owner.requests[self.path] += 1
                owner.answer(self, owner.requests[self.path])

            def log_message(self, format: str, *args: object) -> None:
                """Keep the test's output clean."""

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()

    def answer(self, handler: BaseHTTPRequestHandler, number: int) -> None:
        time.sleep(self.pause)
        if number <= self.n_held:
            self.release.wait(60)
        if number <= self.n_absent:
            handler.send_error(404)
            return
        body = OFFICIAL if handler.path.endswith(".mat") else TOY_TEXT.encode()
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    def close(self) -> None:
        self.release.set()
        self._http.shutdown()
        self._http.server_close()


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


class Children:
    """Processes that do something each, and what they have said of it."""

    def __init__(self) -> None:
        self._results = SPAWN.Queue()
        self.processes: list[SpawnProcess] = []

    def start(self, work: Callable[..., Any], *arguments: Any) -> SpawnProcess:
        process = SPAWN.Process(target=_report, args=(self._results, work, arguments))
        process.start()
        self.processes.append(process)
        return process

    def start_at_once(self, number: int, work: Callable[..., Any], *arguments: Any) -> None:
        """Start so many that begin their work at the same moment."""
        self._barrier = SPAWN.Barrier(number)  # kept until all of them have it
        for _ in range(number):
            self.start(_together, self._barrier, work, *arguments)

    def results(self, number: int) -> list[Any]:
        """What so many of them have returned, or raised, in the order in which they ended."""
        return [self._results.get(timeout=60) for _ in range(number)]

    def close(self) -> None:
        for process in self.processes:
            process.kill()
            process.join(10)


def _report(results: Any, work: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    try:
        results.put(work(*arguments))
    except DataError as error:
        results.put(str(error))


def _together(barrier: Any, work: Callable[..., Any], *arguments: Any) -> Any:
    barrier.wait(60)
    return work(*arguments)


@pytest.fixture
def children() -> Iterator[Children]:
    started = Children()
    yield started
    started.close()


def _load(config: dict[str, Any]) -> Any:
    return load(config).digest


def _load_impatiently(config: dict[str, Any]) -> Any:
    """Take who was silent for two seconds for gone, as after two minutes otherwise."""
    claims.SILENT_AFTER = 2.0
    return _load(config)


def _fetch(config: dict[str, Any]) -> Any:
    return fetch(config).status


def _settle(config: dict[str, Any]) -> Any:
    return settle(config, download=True)["edition"]


def everything_in(directory: Path) -> list[str]:
    return sorted(path.relative_to(directory).as_posix() for path in directory.rglob("*"))


def wait_until(happened: Callable[[], bool]) -> None:
    end = time.monotonic() + 60.0
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.02)


class TestDownloads:
    def test_three_processes_make_one_download(
        self, server: Server, cache: Path, children: Children, capfd: pytest.CaptureFixture[str]
    ) -> None:
        server.n_held = 1
        children.start_at_once(3, _load, toy_config(f"{server.url}/toy.data"))
        said: list[str] = []

        def all_wait() -> bool:
            said.extend(capfd.readouterr().err.splitlines())
            return len(said) >= 2

        wait_until(all_wait)
        server.release.set()
        assert children.results(3) == [TOY_DIGEST] * 3
        assert server.requests.total() == 1
        assert everything_in(cache) == ["toy", "toy/toy.data"]
        said.extend(capfd.readouterr().err.splitlines())
        assert len(said) == 2
        assert len(set(said)) == 1
        assert said[0].startswith("data=toy is being downloaded on ")
        assert said[0].endswith("), which is waited for.")

    @pytest.mark.slow
    def test_six_processes_that_fetch_make_one_download(
        self, server: Server, cache: Path, children: Children
    ) -> None:
        children.start_at_once(6, _fetch, toy_config(f"{server.url}/toy.data"))
        assert sorted(children.results(6)) == ["cached"] * 5 + ["fetched"]
        assert server.requests.total() == 1

    @pytest.mark.slow
    def test_the_official_file_is_downloaded_once(
        self, server: Server, cache: Path, children: Children
    ) -> None:
        config = benchmark_config(OFFICIAL, f"{server.url}/benchmarks.mat")
        children.start_at_once(4, _settle, config)
        assert children.results(4) == ["official"] * 4
        assert server.requests.total() == 1

    @pytest.mark.slow
    def test_a_damaged_copy_is_replaced_once(
        self, server: Server, cache: Path, children: Children
    ) -> None:
        (cache / "toy").mkdir(parents=True)
        (cache / "toy" / "toy.data").write_text(TOY_TEXT.replace("2.25", "2.26"))
        children.start_at_once(4, _load, toy_config(f"{server.url}/toy.data"))
        assert children.results(4) == [TOY_DIGEST] * 4
        assert server.requests.total() == 1

    def test_who_is_killed_is_replaced(
        self, server: Server, cache: Path, children: Children
    ) -> None:
        server.n_held = 1
        config = toy_config(f"{server.url}/toy.data")
        first = children.start(_load, config)
        wait_until(lambda: server.requests.total() == 1)
        children.start(_load, config)
        os.kill(present(first.pid), signal.SIGKILL)
        assert children.results(1) == [TOY_DIGEST]
        assert server.requests.total() == 2
        assert everything_in(cache) == ["toy", "toy/toy.data"]

    @pytest.mark.slow
    def test_who_is_silent_is_replaced_and_may_go_on(
        self, server: Server, cache: Path, children: Children
    ) -> None:
        server.n_held = 1
        config = toy_config(f"{server.url}/toy.data")
        first = children.start(_load, config)
        wait_until(lambda: server.requests.total() == 1)
        os.kill(present(first.pid), signal.SIGSTOP)
        children.start(_load_impatiently, config)
        assert children.results(1) == [TOY_DIGEST]
        os.kill(present(first.pid), signal.SIGCONT)
        server.release.set()
        assert children.results(1) == [TOY_DIGEST]
        assert server.requests.total() == 2
        assert everything_in(cache) == ["toy", "toy/toy.data"]

    @pytest.mark.slow
    def test_a_failure_is_that_of_who_has_tried(
        self, server: Server, cache: Path, children: Children
    ) -> None:
        server.n_absent = 2
        children.start_at_once(5, _load, toy_config(f"{server.url}/toy.data"))
        first, second, *others = children.results(5)
        for failure in (first, second):
            assert failure.startswith("data=toy could not be had from cache ")
            assert "(HTTP status 404)" in failure
        assert others == [TOY_DIGEST] * 3
        assert server.requests.total() == 3

    def test_where_nothing_can_be_written_nobody_waits(
        self, server: Server, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        server.n_held = 2
        (tmp_path / "file").write_text("in the way")
        monkeypatch.setenv("MKLBENCH_CACHE", str(tmp_path / "file" / "cache"))
        config = toy_config(f"{server.url}/toy.data")
        loaded: list[str] = []
        threads = [
            threading.Thread(target=lambda: loaded.append(load(config).digest)) for _ in range(2)
        ]
        for thread in threads:
            thread.start()
        wait_until(lambda: server.requests.total() == 2)
        server.release.set()
        for thread in threads:
            thread.join(30)
        assert loaded == [TOY_DIGEST] * 2


def photographs() -> bytes:
    """An archive of eight photographs in two classes: bright discs on noise."""
    from imageio.v3 import imwrite

    buffer = io.BytesIO()
    rows, columns = np.indices((40, 50))
    disc = (rows - 20) ** 2 + (columns - 25) ** 2 < 14**2
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for number in range(8):
            generator = np.random.default_rng(number)
            picture = generator.integers(20, 60, (40, 50, 3)).astype(np.uint8)
            picture[disc] = generator.integers(120, 255, 3)
            content = imwrite("<bytes>", picture, extension=".png")
            member = tarfile.TarInfo(f"image_{number:04d}.png")
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def _describe(config: dict[str, Any], log: Path, hangs: bool) -> Any:
    """Load photographs; say in a log which process has measured how often; hang if told to."""
    measure = image_descriptors.measure
    calls = 0

    def counting(picture: np.ndarray) -> Any:
        nonlocal calls
        calls += 1
        with log.open("a") as stream:
            stream.write(f"{os.getpid()}\n")
        if hangs and calls == 5:
            time.sleep(600)
        return measure(picture)

    image_descriptors.measure = counting  # type: ignore[assignment]
    return load(config).X


# Each photograph is measured once, and every fourth one for the codebooks before.
N_MEASURED = 8 + 2


@pytest.mark.slow
class TestDescriptors:
    @pytest.fixture
    def config(self, cache: Path, tmp_path: Path) -> dict[str, Any]:
        (tmp_path / "discs.tar").write_bytes(photographs())
        path = str(tmp_path / "discs.tar")
        return {"name": "discs", "path": path, "format": "images", "per_class": 4}

    def test_six_processes_compute_them_once(
        self, config: dict[str, Any], tmp_path: Path, children: Children
    ) -> None:
        assert not is_at_hand(config)
        children.start_at_once(6, _describe, config, tmp_path / "log", False)
        found = children.results(6)
        for X in found[1:]:
            np.testing.assert_array_equal(X, found[0])
        measured = (tmp_path / "log").read_text().splitlines()
        assert len(measured) == N_MEASURED
        assert len(set(measured)) == 1
        assert is_at_hand(config)

    def test_who_is_killed_is_replaced(
        self, config: dict[str, Any], tmp_path: Path, children: Children, cache: Path
    ) -> None:
        log = tmp_path / "log"
        first = children.start(_describe, config, log, True)
        wait_until(lambda: log.exists() and len(log.read_text().splitlines()) == 5)
        for _ in range(2):
            children.start(_describe, config, tmp_path / "other log", False)
        os.kill(present(first.pid), signal.SIGKILL)
        one, other = children.results(2)
        np.testing.assert_array_equal(one, other)
        # The codebooks that the first one has made are used again.
        assert len((tmp_path / "other log").read_text().splitlines()) == N_MEASURED - 2
        assert [path.name for path in cache.glob("discs/*/*")] == ["all.npz", "codebooks.npz"]


@pytest.mark.slow
def test_what_is_there_is_read_again_only_when_it_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(once, "LOOK_AGAIN", 0.02)
    file = tmp_path / "made"
    file.write_text("damaged")
    held = tmp_path / "made.claim" / Owner.of_this_process().new_name()
    held.parent.mkdir()
    held.touch()
    reads: list[str] = []

    def read() -> str | None:
        reads.append(file.read_text())
        return None if "damaged" in reads[-1] else reads[-1]

    def change(content: str) -> None:
        replacement = tmp_path / "replacement"
        replacement.write_text(content)
        replacement.replace(file)

    timers = [threading.Timer(0.3, change, ["damaged again"]), threading.Timer(0.6, change, ["X"])]
    for timer in timers:
        timer.start()
    assert made_once([file], read, lambda: "made here", "it is being made") == "X"
    assert reads == ["damaged", "damaged again", "X"]


def test_what_another_has_made_since_the_look_is_not_made_again(tmp_path: Path) -> None:
    file = tmp_path / "made"

    def read() -> str | None:
        found = file.read_text() if file.exists() else None
        file.write_text("made elsewhere")  # right after the look
        return found

    found = made_once([file], read, lambda: "made here", "it is being made")
    assert found == "made elsewhere"
    assert os.listdir(tmp_path) == ["made"]


def test_a_set_is_at_hand_when_it_needs_no_network(server: Server, cache: Path) -> None:
    server.pause = 0.0
    config = toy_config(f"{server.url}/toy.data")
    assert not is_at_hand(config)
    assert server.requests.total() == 0
    load(config)
    assert is_at_hand(config)
    assert not is_at_hand(config, cache_dir=cache / "other")
    (cache / "mirror").mkdir()
    (cache / "toy").rename(cache / "mirror" / "toy")
    assert not is_at_hand(config)
    assert is_at_hand(config, mirror=cache / "mirror")
    assert not is_at_hand(config, mirror=server.url)
    assert is_at_hand({"name": "twonorm", "generator": "twonorm", "n_samples": 10, "seed": 0})
    assert not is_at_hand({"name": "csv", "path": str(cache / "mine.csv"), "label": "y"})

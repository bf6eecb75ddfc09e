"""Caches, mirrors, disks and claims that are well, and that are not."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest
from found import assert_has_a_remedy, levels, only

from mklbench.claims import Owner, claiming_paths
from mklbench.diagnosis import Finding, places
from mklbench.experiments.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


class TestDownloads:
    def test_a_cache(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("MKLBENCH_CACHE", str(tmp_path))
        (tmp_path / "one.csv").write_bytes(b"x" * 2**20)
        (found,) = places.cache()
        assert found == Finding("ok", "cache", f"{tmp_path}: 1 file, 1 MiB")

    def test_a_cache_that_cannot_be_written(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("MKLBENCH_CACHE", str(tmp_path / "not" / "there"))
        monkeypatch.setattr(os, "access", lambda path, mode: path != tmp_path)
        (found,) = places.cache()
        assert found.level == "slow"
        assert "MKLBENCH_CACHE" in found.remedy

    def test_no_mirror(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("MKLBENCH_MIRROR", raising=False)
        assert levels(list(places.mirror())) == ["ok"]

    def test_a_mirror_that_is_not_there(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("MKLBENCH_MIRROR", "/no/such/place")
        found = only(list(places.mirror()), "problem")
        assert found.said == "MKLBENCH_MIRROR=/no/such/place is not a directory"
        assert found.remedy == "correct or unset MKLBENCH_MIRROR"

    def test_a_directory(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("MKLBENCH_MIRROR", str(tmp_path))
        empty = only(list(places.mirror()), "note")
        assert f"{tmp_path} is empty" in empty.said
        assert_has_a_remedy(empty)
        (tmp_path / "sonar").mkdir()
        assert list(places.mirror()) == [Finding("ok", "mirror", f"{tmp_path}: 1 folder")]

    def test_a_directory_that_cannot_be_read(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(path: Path) -> None:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setenv("MKLBENCH_MIRROR", str(tmp_path))
        monkeypatch.setattr(Path, "iterdir", refuse)
        found = only(list(places.mirror()), "problem")
        assert found.said == f"{tmp_path} cannot be read (Permission denied)"
        assert_has_a_remedy(found)

    def test_a_server(self, monkeypatch: pytest.MonkeyPatch) -> None:
        class Answer(BaseHTTPRequestHandler):
            def do_HEAD(self) -> None:
                self.send_response(404)
                self.end_headers()

            def log_message(self, format: str, *arguments: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/data"
        monkeypatch.setenv("MKLBENCH_MIRROR", url)
        assert list(places.mirror()) == [Finding("ok", "mirror", url)]
        server.shutdown()
        server.server_close()
        found = only(list(places.mirror()), "problem")
        assert found.said == f"{url} does not answer (ConnectionError)"


class TestDisks:
    def test_a_full_one(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=2**20))
        found = list(places.disks(store))
        assert levels(found) == ["problem"] * 3
        options = ("--results-dir", "MKLBENCH_CACHE", "TMPDIR")
        for finding, option in zip(found, options, strict=True):
            assert finding.said.startswith("1 MiB free")
            assert finding.remedy.endswith(option)

    def test_one_full_of_small_files(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=2**40))
        monkeypatch.setattr(places, "_free_files", lambda path: 3)
        found = list(places.disks(store))
        assert levels(found) == ["problem"] * 3
        assert all("no more than 3 files" in finding.said for finding in found)

    def test_a_store_that_cannot_be_written(
        self, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(os, "access", lambda path, mode: path != tmp_path)
        monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=2**40))
        monkeypatch.setattr(places, "_free_files", lambda path: None)
        found = only(list(places.disks(store)), "problem")
        assert f"({store.path}) cannot be written" in found.said
        assert_has_a_remedy(found)

    def test_a_directory_for_temporary_files_that_is_not_there(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(tempfile, "tempdir", None)
        monkeypatch.setenv("TMPDIR", str(tmp_path / "gone"))
        room, found = places._temporary_files()
        assert str(tmp_path / "gone") not in room.said
        assert found.level == "note"
        assert f"TMPDIR={tmp_path / 'gone'} is not there" in found.said
        monkeypatch.setattr(tempfile, "tempdir", None)
        (tmp_path / "gone").mkdir()
        for spelled in (f"{tmp_path}/gone", f"{tmp_path}/gone/../gone/"):
            monkeypatch.setattr(tempfile, "tempdir", None)
            monkeypatch.setenv("TMPDIR", spelled)
            (room,) = places._temporary_files()
            assert str(tmp_path / "gone") in room.said

    def test_no_directory_for_temporary_files(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail() -> str:
            raise FileNotFoundError(2, "No usable temporary directory found")

        monkeypatch.setattr(tempfile, "gettempdir", fail)
        (found,) = places._temporary_files()
        assert found.level == "problem"
        assert "TMPDIR" in found.remedy

    @pytest.mark.parametrize(("kind", "expected"), [("nfs4", ["note"]), ("ext4", [])])
    def test_its_file_system(
        self,
        kind: str,
        expected: list[str],
        store: Store,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        mounts = tmp_path / "mounts"
        real = tmp_path.resolve()
        mounts.write_text(
            f"/dev/a / ext3 rw 0 0\nserver:/x {real} {kind} rw 0 0\nb {real}er tmpfs rw 0 0\n"
        )
        monkeypatch.setattr(places, "_MOUNTS", mounts)
        notes = [finding for finding in places.disks(store) if finding.level == "note"]
        assert levels(notes) == expected


class TestClaims:
    def test_one_in_hand(self, store: Store) -> None:
        (store.path / "cell").mkdir(parents=True)
        with claiming_paths() as paths:
            assert paths.take(store.path / "cell" / "split-000.claim")
            (found,) = places.claims(store)
        assert found.said.startswith("1 step of ")

    def test_one_of_a_process_that_was_killed(self, store: Store) -> None:
        claim = store.path / "cell" / "split-003.claim"
        claim.mkdir(parents=True)
        taken = subprocess.run(
            [
                sys.executable,
                "-c",
                "from mklbench.claims import Owner; print(Owner.of_this_process().new_name())",
            ],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        (claim / taken).touch()
        owner = Owner.parse(taken)
        assert owner is not None
        found = only(list(places.claims(store)), "note")
        assert f"1 claim of runners that are gone, the first of pid {owner.pid}" in found.said
        assert str(claim) in found.said

"""Servers that misbehave: every run ends soon, in one sentence, and keeps nothing of what came."""

from __future__ import annotations

import sys
import time

import yaml

from faults.ground import ROOT, Ground, start

# Seconds that a download may take, and that a run may take with it on a busy machine.
_DEADLINE, _LIMIT = 2, 60.0


def run(place: Ground, tries: int) -> None:
    """Fetch a data set from a server that does something else each time."""
    sys.path.insert(0, str(ROOT / "tests" / "support"))  # where the servers are
    from data_fakes import TOY_TEXT, toy_config
    from hostile_servers import BEHAVIOURS, SOUND, HostileServer

    faults = [name for name in BEHAVIOURS if name not in SOUND]
    place.random.shuffle(faults)
    with (
        HostileServer(TOY_TEXT.encode()) as server,
        place.tally("servers that misbehave", slowest=0.0).counted() as tally,
    ):
        for number in range(tries):
            fault = faults[number % len(faults)]
            with place.directory() as here:
                (here / "configs" / "data").mkdir(parents=True)
                config = toy_config(f"{server.url}/{fault}/toy.data")
                (here / "configs" / "data" / "toy.yaml").write_text(yaml.safe_dump(config))
                environment = {
                    "MKLBENCH_CACHE": str(here / "cache"),
                    "MKLBENCH_MIRROR": "",
                    "MKLBENCH_DOWNLOAD_SECONDS": str(_DEADLINE),
                    "NO_PROXY": "127.0.0.1",
                }
                arguments = ["run", "data=toy", "algo=svm", "--config-dir", "configs"]
                began = time.monotonic()
                process = start([*arguments, "results_dir=store"], here, environment=environment)
                _, said = process.communicate()
                seconds = time.monotonic() - began
                tally.tries += 1
                tally.slowest = max(tally.slowest or 0.0, seconds)
                tally.hear(said, fault)
                tally.check(
                    process.returncode == 2 and said.count("\n") == 1,
                    f"{fault}: exit status {process.returncode}: {said.strip()[-200:]}",
                )
                tally.check(seconds < _LIMIT, f"{fault}: {seconds:.0f} s")
                kept = [path for path in here.glob("cache/**/*") if path.is_file()]
                tally.check(not kept, f"{fault}: {len(kept)} files were kept")
                tally.check(not (here / "store").exists(), f"{fault}: a store was begun")

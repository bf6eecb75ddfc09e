"""Two and three runs of one command on one store at once, one of them killed now and then."""

from __future__ import annotations

import time
from pathlib import Path

from faults import ground
from faults.ground import Ground
from faults.tally import Tally


def run(place: Ground, tries: int) -> None:
    """Start two or three runs at random distances, and kill one in every second try."""
    with place.tally("two and three runners").counted() as tally:
        for number in range(tries):
            with place.directory() as here:
                runs = []
                for index in range(2 + number % 2):
                    runs.append(place.start(here, 1 + index % 2, f"out=rows{index}.csv"))
                    time.sleep(place.random.uniform(0.0, 0.3))
                killed = None
                if number % 2:
                    killed = place.random.choice(runs)
                    if place.reaches(killed):
                        killed.kill()
                for process in runs:
                    _, said = process.communicate()
                    tally.hear(said, tally.campaign)
                    if process is not killed:  # it has waited for the others, or taken over
                        right = process.returncode == 0
                        tally.check(
                            right, f"exit status {process.returncode}: {said.strip()[-200:]}"
                        )
                tally.tries += 1
                ground.check_gone(here, tally, tally.campaign)
                _check_locks(here, tally)
                place.again(here, tally)


def _check_locks(here: Path, tally: Tally) -> None:
    left = [path.name for path in here.glob("store/*/*.lock")]
    tally.check(not left, f"{tally.campaign}: {len(left)} locks were left behind")

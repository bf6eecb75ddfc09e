"""Two and three runs of one command on one store at once, one of them killed now and then."""

from __future__ import annotations

import contextlib
import time

from faults import ground
from faults.ground import Ground
from faults.tally import Tally


def run(place: Ground, tries: int) -> list[Tally]:
    """Start two or three runs at random distances, and kill one in every second try."""
    tally = Tally("two and three runners")
    for number in range(tries):
        with place.directory() as here, contextlib.ExitStack():
            runs = []
            for index in range(2 + number % 2):
                runs.append(place.start(here, 1 + index % 2, f"out=rows{index}.csv"))
                time.sleep(place.random.uniform(0.0, 0.3))
            killed = None
            if number % 2:
                time.sleep(place.random.uniform(0.0, place.seconds))
                killed = place.random.choice(runs)
                killed.kill()
            for process in runs:
                _, said = process.communicate()
                tally.hear(said, tally.campaign)
                if process is not killed:
                    right = process.returncode == 0
                    tally.check(right, f"exit status {process.returncode}: {said.strip()[-200:]}")
            tally.tries += 1
            ground.check_gone(here, tally, tally.campaign)
            place.again(here, tally)
    return [tally.end()]

"""Run campaigns of faults, and print what was lost; exit status 1 if anything was."""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import time

from tabulate import tabulate

from faults import company, damage, interrupts, kills, room
from faults.ground import Ground
from faults.tally import Tally

# Name -> what to run, and how often in the long and in the short form.
CAMPAIGNS = {
    "kills": (kills.run, 200, 4),
    "interrupts": (interrupts.run, 48, 2),
    "damage": (damage.run, 80, 3),
    "flips": (damage.flips, 12_400, 500),
    "room": (room.run, 8, 1),
    "company": (company.run, 16, 1),
}


def main() -> int:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(prog="python -m faults", description=__doc__)
    parser.add_argument("campaigns", nargs="*", metavar="CAMPAIGN", help=", ".join(CAMPAIGNS))
    parser.add_argument("--short", action="store_true", help="a few of each")
    parser.add_argument("--tries", type=int, metavar="N", help="of each campaign")
    parser.add_argument("--seed", type=int, help="default: a new one, which is printed")
    asked = parser.parse_args()
    for name in asked.campaigns:
        if name not in CAMPAIGNS:
            parser.error(f"{name} is no campaign: choose from {', '.join(CAMPAIGNS)}.")
    signal.signal(signal.SIGINT, signal.default_int_handler)  # also in a background job
    seed = random.SystemRandom().randrange(10**6) if asked.seed is None else asked.seed
    began = time.monotonic()
    place = Ground(seed)
    print(f"seed {seed}; the undisturbed run takes {place.seconds:.1f} s", flush=True)
    stopped = False
    try:
        for name in asked.campaigns or CAMPAIGNS:
            campaign, long, short = CAMPAIGNS[name]
            print(f"{name} ...", flush=True)
            campaign(place, asked.tries or (short if asked.short else long))
    except KeyboardInterrupt:
        stopped = True
    finally:
        place.clear()
    print(_report(place.tallies, time.monotonic() - began))
    if stopped:
        print("Stopped by Ctrl-C before all were made.")
    return 0 if all(tally.held for tally in place.tallies) and not stopped else 1


def _report(tallies: list[Tally], seconds: float) -> str:
    headers = ["campaign", "tries", "lost splits", "changed rows", "tracebacks", "other", "seconds"]
    lines = [
        [
            tally.campaign + (f" ({tally.skipped})" if tally.skipped else ""),
            tally.tries,
            tally.lost,
            tally.changed,
            tally.tracebacks,
            len(tally.wrong) - tally.tracebacks,
            f"{tally.seconds:.0f}",
        ]
        for tally in tallies
    ]
    parts = [tabulate(lines, headers, tablefmt="github", disable_numparse=True)]
    ends = [t for t in tallies if t.slowest is not None]
    parts += [f"Slowest end, {tally.campaign}: {tally.slowest:.2f} s." for tally in ends]
    parts += [f"{tally.campaign}: {said}" for tally in tallies for said in tally.wrong]
    n_tries = sum(tally.tries for tally in tallies)
    held = "nothing was lost" if all(t.held for t in tallies) else "NOT all was as promised"
    return "\n\n".join([*parts, f"{n_tries} faults in {seconds:.0f} s: {held}."])


if __name__ == "__main__":
    # One thread, as in a worker: the processes are what is at work here.
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    sys.exit(main())

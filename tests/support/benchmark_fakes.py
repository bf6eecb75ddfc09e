"""Work for the processes of the benchmarks; apart, so that a process imports nothing else."""

from __future__ import annotations

import time

from benchmarks.processes import Send


def send_then_hang(send: Send, count: int) -> None:
    for number in range(count):
        send(number)
    time.sleep(600)


def send_then_fail(send: Send) -> None:
    send("so far")
    raise ValueError("meant to fail")

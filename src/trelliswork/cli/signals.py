"""Signals that end a command: Ctrl-C, and those that ask a process to go.

While modules are loaded, a signal ends the program at once: there is nothing to keep, and an
exception might be raised where Python drops it. Then SIGTERM and SIGHUP do as Ctrl-C: training
keeps the model reached so far, and no file is left half-written. A signal that the program was
started to ignore, as by ``nohup``, is ignored.
"""

from __future__ import annotations

import os
import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

__all__ = ["EndingSignals", "end_at_once", "ending_signals"]

NAMES = ("SIGINT", "SIGTERM", "SIGHUP")  # the last is missing on Windows


class EndingSignals:
    """The first signal that ended a command.

    Attributes
    ----------
    received : int
        Its number; that of SIGINT before there is one.
    """

    def __init__(self) -> None:
        self.received = int(signal.SIGINT)

    @property
    def exit_code(self) -> int:
        """``128 + n``, as shells count it."""
        return 128 + self.received

    def handle(self, number: int, frame: FrameType | None) -> NoReturn:
        """Remember the signal, and end the command."""
        self.received = number
        if number != signal.SIGINT:
            # Cleaning up is short, and must not be interrupted.
            signal.signal(number, signal.SIG_IGN)
        raise KeyboardInterrupt


@contextmanager
def ending_signals() -> Iterator[EndingSignals]:
    """Raise `KeyboardInterrupt` for every signal that ends a command, inside the block."""
    ending = EndingSignals()
    if threading.current_thread() is not threading.main_thread():
        yield ending
        return
    before = {}
    for number in _numbers():
        handler = signal.getsignal(number)
        if handler in (signal.SIG_DFL, signal.default_int_handler, _leave):
            before[number] = signal.signal(number, ending.handle)
    try:
        yield ending
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def end_at_once() -> None:
    """End the program at the next Ctrl-C, until `ending_signals` begins."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    os.write(2, b"trelliswork: interrupted\n")
    os._exit(128 + number)


def _numbers() -> list[signal.Signals]:
    return [getattr(signal, name) for name in NAMES if hasattr(signal, name)]

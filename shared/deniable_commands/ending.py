"""The end of a process that a command has started."""

from __future__ import annotations

import subprocess


def end(process: subprocess.Popen[bytes], seconds: float) -> None:
    """Ask a process to end, and kill it if it has not ended after some seconds."""
    process.terminate()
    try:
        process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()

"""relay_stdio.py [--break] RECORDING PROGRAM [ARGUMENT...]

Stands between a client and `forage mcp`: the client starts this, this starts the program, and every
line that passes is also recorded (see recording.py). Nothing is changed, except with --break: then
the answers to tools/list are.
"""

import os
import signal
import subprocess
import sys
import threading

from recording import Recorder


def pass_on(source, target, record):
    """Line by line until the source ends or the target is gone."""
    try:
        for line in source:
            seen = record(line)
            target.write(seen if seen.endswith(b"\n") else seen + b"\n")
            target.flush()
    except (BrokenPipeError, ValueError):
        pass
    try:
        target.close()
    except BrokenPipeError:
        pass


def main():
    arguments = sys.argv[1:]
    breaking = arguments[0] == "--break"
    path, *command = arguments[1:] if breaking else arguments
    recorder = Recorder(path, f"process {os.getpid()}", breaking)

    def client_sent(line):
        recorder.client_sent(line)
        return line

    program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    # Clients end their servers with a closed stdin, a signal, or both: forage sees the same.
    signal.signal(signal.SIGTERM, lambda *_: program.terminate())
    signal.signal(signal.SIGINT, lambda *_: program.send_signal(signal.SIGINT))
    threading.Thread(
        target=pass_on, args=(sys.stdin.buffer, program.stdin, client_sent), daemon=True
    ).start()
    pass_on(program.stdout, sys.stdout.buffer, recorder.forage_sent)
    # The reader may still wait for the client: leave without waiting for it.
    os._exit(max(program.wait(), 0))


if __name__ == "__main__":
    main()

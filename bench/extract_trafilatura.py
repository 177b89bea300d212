"""trafilatura for bench/extract, in the line protocol of `forage extract --batch`: each line of standard input is
PAGE <tab> URL <tab> OUT; the Markdown goes to OUT, and the answer is PAGE <tab> MICROSECONDS of processor time."""

import sys
import time

import trafilatura


def main():
    for line in sys.stdin:
        page, url, out = line.rstrip("\n").split("\t")
        with open(page, "rb") as file:
            source = file.read()
        started = time.process_time_ns()
        text = trafilatura.extract(source, url=url, output_format="markdown", with_metadata=True)
        taken = time.process_time_ns() - started
        with open(out, "w", encoding="utf-8", errors="replace") as file:
            file.write(text or "")
        print(f"{page}\t{taken // 1000}", flush=True)


if __name__ == "__main__":
    main()

"""Runs the extractor over sets of pages and scores what it wrote."""

import concurrent.futures
import dataclasses
import os
import subprocess
import tempfile

import measure
import page_scores
import page_sets

BATCH = [measure.FORAGE, "extract", "--batch"]
PAGES_AT_ONCE = 16  # that a process scores


def extract(lines):
    """Runs `forage extract --batch` over pairs of path and URL; the Markdown of each path, and the seconds of all."""
    markdowns, seconds = {}, 0.0
    with tempfile.TemporaryDirectory(prefix="forage-bench-") as home:
        out = os.path.join(home, "out.md")
        environment = measure.clean_environment(home)
        process = subprocess.Popen(BATCH, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for path, url in lines:
            with open(out, "wb"):
                pass  # nothing of the page before stays where a page comes to nothing
            process.stdin.write(f"{path}\t{url}\t{out}\n")
            process.stdin.flush()
            answer = measure.read_line(process.stdout, f"forage, at {path},").rstrip("\n").rpartition("\t")
            seconds += int(answer[2]) / 1e6
            markdowns[path] = page_sets.read_text(out)
        process.stdin.close()
        process.wait()
        process.stdout.close()
    return markdowns, seconds


@dataclasses.dataclass
class Score:
    """What a set came to: a row for each page."""

    name: str
    rows: list  # of (page, what page_scores measured)
    speed: float  # megabytes a second

    def figures(self, unopened):
        """Of one side of the split, or of both (None); None where there are no pages."""
        rows = [row for page, row in self.rows if unopened is None or page_sets.is_unopened(page) == unopened]
        return page_scores.sum_up(self.name, rows) if rows else None

    def by_page(self):
        """Only of pages that may be looked at."""
        return {page.id: row[-1] for page, row in self.rows if not page_sets.is_unopened(page)}

    def worst(self, count):
        return sorted((figure, page) for page, figure in self.by_page().items())[:count]


def score_set(name, folder, last=False):
    """Reads, extracts and scores the pages of a set; without `last` only those that may be looked at."""
    pages = [page for page in page_sets.load(name, folder) if last or not page_sets.is_unopened(page)]
    size, lines = 0, []
    with tempfile.TemporaryDirectory(prefix="forage-bench-") as home:
        for number, page in enumerate(pages):
            html = page.html()
            size += len(html)
            lines.append((os.path.join(home, f"{number}.html"), page.url))
            with open(lines[-1][0], "wb") as file:
                file.write(html)
        markdowns, seconds = extract(lines)
    with concurrent.futures.ProcessPoolExecutor() as pool:
        texts = [markdowns[path] for path, _ in lines]
        rows = list(pool.map(page_scores.measure, pages, texts, chunksize=PAGES_AT_ONCE))
    return Score(name, list(zip(pages, rows)), size / 1e6 / max(seconds, 1e-6))

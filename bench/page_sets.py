"""Sets of pages with their truth: where their files lie, and which pages nobody looks at before the last run.

A folder of sets holds any of these; a set that is not there is left out:

    scrapinghub   scrapinghub/ground-truth.json      {ID: {url, articleBody}}
                  scrapinghub/html/ID.html.gz
    wcxb-dev      wcxb/dev/ground-truth/ID.json      {url, ground_truth: {main_content, with, without},
    wcxb-test     wcxb/dev/html/ID.html.gz            _internal: {page_type: {primary}}}; wcxb/test/ alike
    trafilatura   trafilatura/evaldata.json          {URL: {file, with: [...], without: [...]}}
                  trafilatura/pages/FILE.gz
    zh            zh/truth.json                      {ID: text}
                  zh/pages/ID.html.gz
    mozilla       mozilla/test/test-pages/ID/        source.html and expected.html
    defuddle      defuddle/tests/fixtures/ID.html    a comment at its top may name the URL
                  defuddle/tests/expected/ID.md      an opening block of json is no part of the truth

Rules that are written while looking at pages fit those pages. So a fifth of the hosts stays unopened: every page of a
host is on the same side, and the side follows from the host's name alone, in every set and on every machine."""

import dataclasses
import gzip
import hashlib
import json
import os
import re
import urllib.parse

PARTS = 5  # one of them is unopened
MOZILLA_URL = "http://fakehost/test/page.html"
URL_COMMENT = re.compile(r'<!--\s*(\{.*?"url".*?\})\s*-->', re.DOTALL)
COMMENT_WITHIN = 2000  # characters
OPENING_JSON = re.compile(r"\A```json\n.*?\n```\n+", re.DOTALL)


@dataclasses.dataclass
class Page:
    """One page of a set; what its truth is depends on the set."""

    set: str
    id: str
    path: str
    url: str
    truth: object
    kind: str = ""

    def html(self):
        opened = gzip.open if self.path.endswith(".gz") else open
        with opened(self.path, "rb") as file:
            return file.read()


# ---- the split ----


def split_key(page):
    """What decides on which side a page is: its host; its name where a set has no addresses."""
    if page.set == "mozilla":
        return re.sub(r"-\d+$", "", page.id)
    url = page.url if "://" in page.url else "http://" + page.url
    try:
        host = urllib.parse.urlsplit(url).hostname
    except ValueError:
        host = None
    return re.sub(r"^www\.", "", (host or page.id).lower())


def hash_part(page, start):
    """Eight hexadecimal digits of the key's hash, from one of them on, as a number."""
    return int(hashlib.sha256(split_key(page).encode()).hexdigest()[start : start + 8], 16)


def is_unopened(page):
    return hash_part(page, 0) % PARTS == 0


def fold(page, folds=5):
    """The part of a cross-validation that a page belongs to, by its host too, whichever side of the split it is on."""
    return hash_part(page, 8) % folds


# ---- the sets ----


def read_json(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def read_text(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def load_scrapinghub(name, folder):
    for page, truth in read_json(f"{folder}/ground-truth.json").items():
        path = f"{folder}/html/{page}.html.gz"
        yield Page(name, page, path, truth.get("url") or "", truth.get("articleBody") or "")


def load_wcxb(name, folder):
    for file in sorted(os.listdir(f"{folder}/ground-truth")):
        described = read_json(f"{folder}/ground-truth/{file}")
        truth = described.get("ground_truth")
        if not isinstance(truth, dict):
            continue
        kind = (described.get("_internal") or {}).get("page_type") or "article"
        if isinstance(kind, dict):
            kind = kind.get("primary", "article")
        kind = "collection" if kind == "category" else kind
        page = file.removesuffix(".json")
        yield Page(name, page, f"{folder}/html/{page}.html.gz", described.get("url") or "", truth, kind)


def load_trafilatura(name, folder):
    for url, truth in read_json(f"{folder}/evaldata.json").items():
        yield Page(name, truth["file"].replace("/", "_"), f"{folder}/pages/{truth['file']}.gz", url, truth)


def load_zh(name, folder):
    for page, truth in read_json(f"{folder}/truth.json").items():
        yield Page(name, page, f"{folder}/pages/{page}.html.gz", "", truth)


def load_mozilla(name, folder):
    for page in sorted(os.listdir(folder)):
        expected = f"{folder}/{page}/expected.html"
        if os.path.exists(expected):
            yield Page(name, page, f"{folder}/{page}/source.html", MOZILLA_URL, read_text(expected))


def url_of_fixture(path, page):
    """The address that a comment at the top of the page names; else the page's own name is one."""
    named = URL_COMMENT.search(read_text(path)[:COMMENT_WITHIN])
    try:
        url = json.loads(named[1]).get("url") if named else ""
    except ValueError:
        url = ""
    return url or "https://" + re.sub(r"^[a-z]+--", "", page)


def load_defuddle(name, folder):
    for file in sorted(os.listdir(f"{folder}/fixtures")):
        page = file.removesuffix(".html")
        path, expected = f"{folder}/fixtures/{file}", f"{folder}/expected/{page}.md"
        if file.endswith(".html") and os.path.exists(expected):
            truth = OPENING_JSON.sub("", read_text(expected))
            yield Page(name, page, path, url_of_fixture(path, page), truth)


# Where a set lies, and what reads it.
SETS = {
    "scrapinghub": ("scrapinghub", load_scrapinghub),
    "wcxb-dev": ("wcxb/dev", load_wcxb),
    "wcxb-test": ("wcxb/test", load_wcxb),
    "trafilatura": ("trafilatura", load_trafilatura),
    "zh": ("zh", load_zh),
    "mozilla": ("mozilla/test/test-pages", load_mozilla),
    "defuddle": ("defuddle/tests", load_defuddle),
}


def sets_in(folder):
    return [name for name, (place, _) in SETS.items() if os.path.isdir(os.path.join(folder, place))]


def load(name, folder):
    """The pages of one set, in the order of its files."""
    place, read = SETS[name]
    return list(read(name, os.path.join(folder, place)))

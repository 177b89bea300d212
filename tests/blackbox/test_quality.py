"""bench/quality and what it stands on: the sets of pages, the fifth of them that stays unopened, and the scores."""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "bench"))

import page_sets  # noqa: E402 (bench/ is no package)


def page(url="", name="scrapinghub", number="7"):
    return page_sets.Page(name, number, "", url, "")


def test_the_split_follows_from_the_host_alone():
    sides = {
        # sha256 of "example.com" begins with a379a6f6: 2742658806 % 5 is 1
        "http://example.com/": False,
        "https://WWW.Example.com/other?page=2": False,
        "example.com/without-scheme": False,
    }
    for url, unopened in sides.items():
        assert page_sets.split_key(page(url)) == "example.com"
        assert page_sets.is_unopened(page(url)) == unopened
    hosts = [f"host{number}.example" for number in range(1000)]
    unopened = [host for host in hosts if page_sets.is_unopened(page(f"https://{host}/a"))]
    assert 150 < len(unopened) < 250
    for host in unopened:  # whatever the set, the path or the name of the page
        assert page_sets.is_unopened(page(f"http://www.{host.upper()}:8080/b", "defuddle", "other"))


def test_pages_without_an_address_are_split_by_their_names():
    assert page_sets.split_key(page("", "zh", "17")) == "17"
    assert page_sets.split_key(page("http://[broken", "zh", "18")) == "18"
    assert page_sets.split_key(page(page_sets.MOZILLA_URL, "mozilla", "some-site-3")) == "some-site"
    assert page_sets.split_key(page(page_sets.MOZILLA_URL, "mozilla", "some-site")) == "some-site"


def test_folds_cut_across_the_split():
    pages = [page(f"https://host{number}.example/") for number in range(1000)]
    opened = [one for one in pages if not page_sets.is_unopened(one)]
    counts = [sum(page_sets.fold(one) == number for one in opened) for number in range(5)]
    assert sum(counts) == len(opened) and min(counts) > 100

"""Open sources of papers: four fakes are proved by the published client of the service, and forage asks as that client does.

Clients: habanero (Crossref), arxiv, pyalex (OpenAlex), semanticscholar. None was run for Europe PMC; its fake cites the
documentation."""

import pytest
from fakes.arxiv import Arxiv
from fakes.crossref import Crossref
from fakes.europe_pmc import EuropePmc
from fakes.openalex import Openalex
from fakes.search_service import Hit
from fakes.semantic_scholar import SemanticScholar
from one_source import (
    asking,
    described,
    each_fake,
    test_a_limit_is_told,  # noqa: F401 (a test, here of these sources)
    test_nothing_found_is_no_failure,  # noqa: F401
    test_what_is_no_answer_is_no_empty_one,  # noqa: F401
)
from searching import fail, search
from vendors import run_python

KINDS = [Arxiv, Crossref, EuropePmc, Openalex, SemanticScholar]
DOI = "https://doi.org/10.5555/one"
COPY = "https://copy.example/two.pdf"

# (what the source knows, what forage shows of it)
FOUND = {
    "arxiv": (
        [Hit("On n<m & p>q", "https://arxiv.org/abs/2001.00001v1", "An  abstract\n of it.", "2020-10-03")],
        [("On n<m & p>q", "https://arxiv.org/abs/2001.00001v1", "An abstract of it.", "2020-10-03", None)],
    ),
    "crossref": (
        [Hit("H<sub>2</sub>O", DOI, "Water &amp; more.", "2020-10-03"), Hit("Bare", "https://doi.org/10.5555/two")],
        [
            ("H2O", DOI, "Water & more.", "2020-10-03", None),
            ("Bare", "https://doi.org/10.5555/two", "Journal of Things", None, None),
        ],
    ),
    "europe-pmc": (
        [Hit("Cells", "https://europepmc.org/PMC7", "To see.", "2020-10-03"), Hit("Bare", DOI)],
        [
            ("Cells", "https://pmc.ncbi.nlm.nih.gov/articles/PMC7/", "Aim To see.", "2020-10-03", None),
            ("Bare", DOI, "First A, Second B.", None, None),
        ],
    ),
    "openalex": (
        [Hit("Open", COPY, "a fish eats a fish", "2020-10-03"), Hit("Closed", DOI, None, "2021-01-01")],
        [("Open", COPY, "a fish eats a fish", "2020-10-03", None), ("Closed", DOI, "", "2021-01-01", None)],
    ),
    "semantic-scholar": (
        [Hit("Open", COPY, "An abstract.", "2020-10-03"), Hit("Closed", DOI)],
        [("Open", COPY, "An abstract.", "2020-10-03", None), ("Closed", DOI, "", None, None)],
    ),
}
fake = each_fake(KINDS, FOUND)


def test_what_is_found(fake):
    with asking(fake) as forage:
        result = search(forage, type="scholar", num_results=5)
        assert described(result) == FOUND[fake.name][1]
        assert result["left_out"] == []
        assert fake.requests[0].headers["user-agent"].startswith("forage/")


# (arguments, what left_out names where a source is not in the table)
DEMANDS = [
    ({"start_date": "2026-01-31", "end_date": "2026-02-28"}, {}),
    ({"start_date": "2026-01-31"}, {}),
    ({"end_date": "2026-02-28"}, {}),
    ({"freshness": "year"}, {}),
    ({"page": 2, "num_results": 1}, {}),
    ({"query": 'quotes "in pairs", (brackets): a-b/c* or "not'}, {}),
    ({"query": "how do the largest of all language models count the letters of a word?"}, {}),
    ({"query": "doi:10.5555/one"}, {}),
    ({"language": "pt-BR"}, {"openalex": []}),
    ({"region": "DE"}, {}),
    ({"sites": ["arxiv.org"]}, {}),
]
NARROWING = {"language": ["language"], "region": ["region"], "sites": ["sites"]}


@pytest.mark.parametrize("demand", DEMANDS, ids=lambda demand: "_".join(demand[0]))
def test_a_source_takes_what_is_asked_and_the_rest_is_told(fake, demand):
    """The fakes refuse what their services refuse."""
    arguments, own = demand
    expected = own.get(fake.name, next((NARROWING[name] for name in arguments if name in NARROWING), []))
    fake.hits = fake.hits[:1]
    with asking(fake, FORAGE_CONTACT="mailto:search@example.org") as forage:
        result = search(forage, **{"query": "deep-sea fish", "type": "scholar", **arguments})
    assert [words.partition(":")[0] for words in result["left_out"]] == expected
    assert fake.searches >= 1 and "search@example.org" in fake.requests[0].headers["user-agent"]


def test_openalex_with_a_key():
    with Openalex() as fake:
        fake.hits = FOUND["openalex"][0]
        with asking(fake, OPENALEX_API_KEY=fake.key) as forage:
            assert len(search(forage, type="scholar")["results"]) == 2
            assert fake.requests[0].headers["authorization"] == f"Bearer {fake.key}"
        with asking(fake, OPENALEX_API_KEY="another-key-0123456789") as forage:
            error = fail(forage, type="scholar")
            assert error["code"] == "AUTH" and "OPENALEX_API_KEY" in error["message"]


# ---- the clients ----

HABANERO = """
from habanero import Crossref
client = Crossref(base_url=url, mailto="search@example.org")
for item in client.works(query="fish", limit=2, select=["DOI", "title"], filter={"from_pub_date": "2020-01-01"})["message"]["items"]:
    say([item["DOI"], item["title"]])
try:
    client.works(query="fish", limit=2, filter={"from_pub_date": "yesterday"})
except Exception as error:
    say(str(error))
"""

ARXIV = """
import arxiv
client = arxiv.Client(page_size=2, delay_seconds=0, num_retries=0)
client.query_url_format = url + "/api/query?{}"
for result in client.results(arxiv.Search(query="all:fish", max_results=2)):
    say([result.entry_id, result.title, result.summary, str(result.published.date()), result.pdf_url])
"""

PYALEX = """
import pyalex, pyalex.api
written = pyalex.api.urlunparse  # it knows one address only
pyalex.api.urlunparse = lambda parts: written(parts).replace("https://api.openalex.org", url)
pyalex.config.api_key = sys.argv[2]
works = pyalex.Works().search("fish").filter(from_publication_date="2020-01-01")
for work in works.select(["id", "doi", "display_name", "abstract_inverted_index"]).get(page=1, per_page=2):
    say([work["display_name"], work["doi"], work["abstract"]])
"""

SEMANTICSCHOLAR = """
from semanticscholar import SemanticScholar
client = SemanticScholar(api_url=url, retry=False)
found = client.search_paper("fish", limit=2, fields=["title", "abstract", "openAccessPdf"], publication_date_or_year="2020-01-01:")
for paper in found.items:
    say([paper.title, paper.abstract, paper.openAccessPdf])
try:
    client.search_paper("fish", fields=["nonsense"])
except Exception as error:
    say(str(error))
"""

# name -> (script, what it prints, parameters whose values are the same when forage asks the same)
CLIENTS = {
    "crossref": (HABANERO, [["10.5555/ONE", ["H<sub>2</sub>O"]], ["10.5555/TWO", ["Bare"]], "filter from-pub-date:yesterday"],
                 ["query", "rows", "filter"]),
    "arxiv": (ARXIV, [["http://arxiv.org/abs/2001.00001v1", "On n<m & p>q", "An  abstract\n of it.", "2020-10-03",
                       "http://arxiv.org/pdf/2001.00001v1"]], ["start", "max_results", "sortBy", "sortOrder"]),
    "openalex": (PYALEX, [["Open", None, "a fish eats a fish"], ["Closed", DOI, None]], ["search", "filter", "page"]),
    "semantic-scholar": (SEMANTICSCHOLAR, [["Open", "An abstract.", {"url": COPY, "status": None, "license": None}],
                                           ["Closed", None, {"url": "", "status": None, "license": None}],
                                           "nonsense"],
                         ["query", "limit", "offset", "publicationDateOrYear"]),
}  # fmt: skip


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.name in CLIENTS], ids=lambda kind: kind.name)
def test_the_published_client_is_content_with_the_fake_and_forage_asks_as_it_does(kind):
    script, expected, same = CLIENTS[kind.name]
    with kind() as fake:
        fake.hits = FOUND[fake.name][0]
        printed = run_python(script, fake.url, fake.key)
        for got, want in zip(printed, expected, strict=True):
            assert got == want or (isinstance(want, str) and want in got), printed
        theirs = fake.requests[0]
        fake.requests.clear()
        dated = {} if kind is Arxiv else {"start_date": "2020-01-01"}
        with asking(fake) as forage:
            search(forage, "fish", type="scholar", num_results=2, **dated)
        ours = fake.requests[0]
        assert (ours.method, ours.path) == (theirs.method, theirs.path)
        assert {name: ours.query.get(name) for name in same} == {name: theirs.query.get(name) for name in same}

"""Pages that are longer than any client takes at once, and what must reach a model that asks for them: the whole result, in
the form that forage picked for the client. Some clients count bytes, of which a Japanese page has three for a character."""

import json
import urllib.parse

from harness import expect
from loopback import LoopbackHandler, LoopbackServer

TOOL = "get_content"
# The contexts of clients whose models read texts; all others get JSON.
TEXTS = ("gemini-cli",)
PARAGRAPHS = {
    "tides": '## Part {0}\n\nThe "harbour" of Ærø empties twice a day, and fills again.\n\n```c\nputs("{0}\\n");\n```\n\n',
    "潮": '## 第{0}部\n\n港の水は一日に二度引いて、また満ちてくる。「満潮」と「干潮」の間はおよそ六時間である。\n\n',
}
PAGES = {name: "".join(words.format(number) for number in range(1000)) for name, words in PARAGRAPHS.items()}


class Handler(LoopbackHandler):
    def do_GET(self):
        body = PAGES[urllib.parse.unquote(self.path)[1:]].encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/markdown; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Web(LoopbackServer):
    def __init__(self):
        super().__init__(Handler)

    def url(self, page):
        return self.origin + "/" + urllib.parse.quote(page)

    @property
    def settings(self):
        host = self.origin.partition("//")[2]
        return [f"FORAGE_ALLOW_PRIVATE_HOSTS={host}", "FORAGE_CACHE_TTL=0"]


def strings(value):
    """Every text in what a client told its model."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [text for item in value for text in strings(item)]
    return [value] if isinstance(value, str) else []


def expect_read(seen, context, page, least):
    """The model has forage's result, every character of it; where its client reads texts, it is Markdown, told once."""
    as_text = context in TEXTS
    results = [result for result in seen.recording.results("tools/call") if not result.get("isError")]
    expect(results, "forage answered no tools/call with a result: " + seen.recording.story())
    text = results[-1]["content"][0]["text"]
    expect(len(text) >= least, f"the result has only {len(text)} characters")
    expect(seen.model.results, "the model never got the tool's result\n" + seen.outcome.tail())
    told = strings(json.loads(seen.model.results[-1]))
    expect(any(text in one for one in told), f"the model did not get the whole result, but {told[0][:300]!r}")
    listed = [tool for result in seen.recording.results("tools/list") for tool in result["tools"]]
    expect(any("outputSchema" in tool for tool in listed) != as_text, "wrong output schemas")
    expect(("structuredContent" in results[-1]) != as_text, "wrong structure")
    if as_text:
        shown = PARAGRAPHS[page].format(7)
        expect(sum(one.count(shown) for one in told) == 1, "the model did not get Markdown, once")
        expect("\nnext_start: " in text and "\nread_on: " in text, "where to read on is not told")

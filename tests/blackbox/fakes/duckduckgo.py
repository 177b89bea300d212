"""A fake of DuckDuckGo's page for browsers without scripts, html.duckduckgo.com/html/.

It is no interface: what is known of it is what the published client ddgs and SearXNG's engine do. test_sources_web.py runs
ddgs against it. Whoever does not look like a browser, or asks for a later page without the token (vqd) of the one before,
gets the page with a question, as HTTP 202."""

import hashlib
import html
import urllib.parse

from fakes.search_service import SearchService
from fakes.service import Reply

PAGE = 10
FIELDS = {"q", "b", "l", "kl", "df", "s", "dc", "vqd", "nextParams", "api", "o", "v"}

CHALLENGE = """<!DOCTYPE html><html><head><title>DuckDuckGo</title>
<script src="//duckduckgo.com/anomaly.js?sv=html&cc=botnet"></script></head><body>
<form id="challenge-form" action="//duckduckgo.com/anomaly.js?sv=html" method="POST">
<div class="anomaly-modal__title">Unfortunately, bots use DuckDuckGo too.</div>
<div class="anomaly-modal__description">Please complete the following challenge to confirm this search was made by a human.</div>
<div class="anomaly-modal__instructions">Select all squares containing a duck:</div></form></body></html>"""

AD = """<div class="result results_links results_links_deep result--ad web-result"><div class="links_main links_deep result__body">
<h2 class="result__title"><a rel="nofollow" class="result__a" href="https://duckduckgo.com/y.js?ad_domain=ads.example&amp;
ad_provider=bingv7aa">An advertisement</a></h2><a class="result__snippet" href="https://duckduckgo.com/y.js?ad_domain=ads.example">
Buy things</a></div></div>"""

RESULT = """<div class="result results_links results_links_deep web-result "><div class="links_main links_deep result__body">
<h2 class="result__title"><a rel="nofollow" class="result__a" href="{link}">{title}</a></h2>
<div class="result__extras"><div class="result__extras__url"><span class="result__icon"><a rel="nofollow" href="{link}"><img
class="result__icon__img" src="//external-content.duckduckgo.com/ip3/one.example.ico" width="16" /></a></span>
<a class="result__url" href="{link}">one.example</a></div></div>
<a class="result__snippet" href="{link}">{snippet}</a><div class="clear"></div></div></div>"""

NOTHING = """<div class="result results_links results_links_deep result--no-result"><div class="links_main links_deep result__body">
<div class="no-results">No results found for your search.</div></div></div>"""


class DuckDuckGo(SearchService):
    name = "duckduckgo"
    direct = False  # whether links lead to their pages at once

    @property
    def settings(self):
        return {"DUCKDUCKGO_BASE_URL": self.url}

    def reset(self):
        super().reset()
        self.direct = False

    def error(self, status):
        return Reply(CHALLENGE.encode(), status, "text/html; charset=UTF-8")

    def refuse(self, why):
        raise AssertionError(why)

    def looks_like_a_browser(self, asked):
        headers = asked.headers
        return (
            headers.get("user-agent", "").startswith("Mozilla/5.0 (")
            and headers.get("sec-fetch-mode") == "navigate"
            and headers.get("sec-fetch-dest") == "document"
            and "text/html" in headers.get("accept", "")
            and "accept-language" in headers
            and "duckduckgo.com" in headers.get("referer", "duckduckgo.com")
        )

    def token(self, asked, query):
        """vqd belongs to a query and to who asked it."""
        return "4-" + hashlib.sha256(f"{query} {asked.headers['user-agent']}".encode()).hexdigest()[:39]

    def search(self, asked):
        form = dict(urllib.parse.parse_qsl(asked.body.decode(), keep_blank_values=True))
        if asked.method != "POST" or asked.path != "/html/":
            return Reply(b"", 301, Location="https://duckduckgo.com/")
        assert set(form) <= FIELDS, form
        later = "s" in form
        allowed = form.get("vqd") == self.token(asked, form["q"]) if later else form.get("b") == ""
        if not self.looks_like_a_browser(asked) or not allowed or len(form["q"]) > 499:
            return self.error(202)
        start = int(form.get("s", 0))
        self.query = form["q"]
        return self.reply(asked, self.hits_for(form["q"])[start : start + PAGE])

    def reply(self, asked, hits):
        results = "".join(self.result(hit) for hit in hits) or NOTHING
        form = urllib.parse.parse_qs(asked.body.decode())
        query = form["q"][0]
        following = (
            f'<div class="nav-link"><form action="/html/" method="post"><input type="hidden" name="q" value="{html.escape(query)}">'
            f'<input type="hidden" name="vqd" value="{self.token(asked, query)}"></form></div>'
        )
        page = (
            '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">'
            f"<html><head><title>{html.escape(query)} at DuckDuckGo</title></head><body class='body--html'>"
            f'<div class="serp__results"><div id="links" class="results">{AD}{results}{following}</div></div></body></html>'
        )
        return Reply(page.encode(), kind="text/html; charset=UTF-8")

    def result(self, hit):
        through = "//duckduckgo.com/l/?" + urllib.parse.urlencode({"uddg": hit.link, "rut": "0f" * 32})
        return RESULT.format(
            link=html.escape(hit.link if self.direct else through),
            title=html.escape(hit.title),
            snippet=html.escape(hit.snippet or "").replace("words", "<b>words</b>"),
        )

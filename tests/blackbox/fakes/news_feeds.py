"""Fakes of the news feeds of Google and Bing, both RSS 2.0. Neither is documented: shapes are those that readers of them
know. test_sources_news.py runs feedparser against them."""

import email.utils
import time
import urllib.parse
from xml.sax.saxutils import escape, quoteattr

from fakes.search_service import SearchService, need, only
from fakes.service import Reply


def date_of(hit):
    return email.utils.formatdate(time.mktime(time.strptime(hit.date or "2026-01-01", "%Y-%m-%d")), usegmt=True)


class Feed(SearchService):
    """What both share."""

    type = "news"
    path = ""
    parameters = frozenset()

    def error(self, status):
        return Reply(b"<html><body>Our systems have detected unusual traffic</body></html>", status, "text/html")

    def refuse(self, why):
        return Reply(f"<html><body>{escape(why)}</body></html>".encode(), 400, "text/html")

    def search(self, asked):
        if asked.method != "GET" or asked.path != self.path:
            return Reply(b"<html><body>not here</body></html>", 404, "text/html")
        only(asked.query, self.parameters)
        need(asked.query.get("q"), "q")
        self.check(asked.query)
        return self.reply(asked, self.hits_for(asked.query["q"]))

    def reply(self, asked, hits):
        items = "".join(self.item(hit) for hit in hits)
        feed = (
            '<?xml version="1.0" encoding="utf-8" ?><rss version="2.0" xmlns:News="https://www.bing.com/news/search">'
            f"<channel><title>{escape(asked.query['q'])}</title><link>{self.url}</link><description>Search results"
            f"</description><lastBuildDate>{email.utils.formatdate(usegmt=True)}</lastBuildDate>{items}</channel></rss>"
        )
        return Reply(feed.encode(), kind="text/xml; charset=utf-8")


class GoogleNews(Feed):
    name = "google-news"
    path = "/rss/search"
    parameters = frozenset({"q", "hl", "gl", "ceid"})

    @property
    def settings(self):
        return {"GOOGLE_NEWS_BASE_URL": self.url}

    def check(self, form):
        """ceid is the country and the language that gl and hl name; a feed of another edition is a redirect."""
        need(form["ceid"] == f"{form['gl']}:{form['hl'].partition('-')[0]}", "ceid")

    def item(self, hit):
        """The link leads to Google; the site is in `source`, and the description is HTML of both."""
        site = urllib.parse.urlsplit(hit.link)
        redirect = f"https://news.google.com/rss/articles/CBMi{abs(hash(hit.link)):x}?oc=5"
        inside = f'<a href="{redirect}" target="_blank">{escape(hit.title)}</a>&nbsp;&nbsp;<font color="#6f6f6f">Paper</font>'
        return (
            f"<item><title>{escape(hit.title)} - Paper</title><link>{redirect}</link><guid isPermaLink=\"false\">CBMi</guid>"
            f"<pubDate>{date_of(hit)}</pubDate><description>{escape(inside)}</description>"
            f"<source url={quoteattr(f'{site.scheme}://{site.netloc}')}>Paper</source></item>"
        )


class BingNews(Feed):
    name = "bing-news"
    path = "/news/search"
    parameters = frozenset({"q", "format", "mkt", "qft"})

    @property
    def settings(self):
        return {"BING_NEWS_BASE_URL": self.url}

    def check(self, form):
        need(form.get("format") == "rss", "format: without it, a page of HTML comes")

    def item(self, hit):
        """The link leads through Bing, with the page's address in small hexadecimal digits."""
        address = urllib.parse.quote(hit.link, safe="").lower()
        redirect = f"http://www.bing.com/news/apiclick.aspx?ref=FexRss&aid=&tid=1&url={address}&c=1234&mkt=en-us"
        return (
            f"<item><title>{escape(hit.title)}</title><link>{escape(redirect)}</link><description>{escape(hit.snippet or '')}"
            f"</description><pubDate>{date_of(hit)}</pubDate><News:Source>Paper</News:Source></item>"
        )

"""A fake of the GDELT DOC 2.0 API (https://blog.gdeltproject.org/gdelt-doc-2-0-api-debuts).

Its published client (gdeltdoc) needs pandas, which is too much for a test; what it sends and takes was read in it. Comments
name the part of that page that describes what follows."""

import json
import re

from fakes.search_service import SearchService, need, only
from fakes.service import Reply

PARAMETERS = {"query", "mode", "format", "maxrecords", "timespan", "startdatetime", "enddatetime", "sort"}
SORTS = {"datedesc", "dateasc", "toneasc", "tonedesc", "hybridrel"}
OPERATORS = re.compile(r"-?(domain|domainis|sourcecountry|sourcelang|theme|near\d+|repeat\d+|tone):")


class Gdelt(SearchService):
    name = "gdelt"
    type = "news"

    @property
    def settings(self):
        return {"GDELT_BASE_URL": self.url}

    def error(self, status):
        words = b"Please limit requests to one every 5 seconds or contact the maintainer."
        return Reply(words if status == 429 else b"An error occurred", status, "text/html")

    def refuse(self, why):
        """What is wrong with a query is said in plain words, with HTTP 200."""
        return Reply(f"{why}\n".encode(), 200, "text/html; charset=utf-8")

    def search(self, asked):
        if asked.method != "GET" or asked.path != "/api/v2/doc/doc":
            return Reply(b"not here", 404, "text/html")
        form = asked.query
        only(form, PARAMETERS)
        words = [word for word in re.findall(r'"[^"]*"|\S+', form.get("query", "")) if not OPERATORS.match(word.strip("()"))]
        need(any(len(word) > 2 for word in words), "Your query was too short or too long.")
        # "Parentheses may only be used around OR'd statements."
        need("(" not in form["query"] or re.search(r"\([^()]+ OR [^()]+\)", form["query"]), "Parentheses")
        need(re.fullmatch(r"[\w\s\"'().:-]*", form["query"]), "The query contained illegal characters.")
        need(form.get("mode", "artlist").lower() == "artlist" and form.get("format") == "json", "mode")
        need(1 <= int(form.get("maxrecords", 75)) <= 250, "maxrecords")
        need(re.fullmatch(r"\d+(min|h|hours|d|days|w|weeks|m|months)", form.get("timespan", "1d")), "Invalid timespan.")
        for name in ("startdatetime", "enddatetime"):
            need(re.fullmatch(r"\d{14}", form.get(name, "2" * 14)), "Invalid date.")
        need("startdatetime" not in form or "timespan" not in form, "Both a timespan and dates.")
        need(form.get("sort", "hybridrel").lower() in SORTS, "sort")
        return self.reply(asked, self.hits_for(form["query"]))

    def reply(self, asked, hits):
        """"JSON": an empty object where nothing is found; titles come with escapes that JSON has not."""
        articles = [
            {
                "url": hit.link,
                "url_mobile": "",
                "title": hit.title,
                "seendate": f"{(hit.date or '2026-01-01').replace('-', '')}T041500Z",
                "socialimage": "",
                "domain": "site.example",
                "language": "English",
                "sourcecountry": "United States",
            }
            for hit in hits[: int(asked.query.get("maxrecords", 75))]
        ]
        body = json.dumps({"articles": articles} if articles else {}, ensure_ascii=False).replace("'", "\\'")
        return Reply(body.encode())

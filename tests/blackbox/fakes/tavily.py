"""A fake of Tavily (https://docs.tavily.com, "API Reference > Endpoint > Tavily Search").

test_search_fakes.py runs @tavily/core against it. Comments name the section of that page."""

import json
import re

from fakes.search_service import SearchService, need, only
from fakes.service import Reply

# "Body": the parameters that are used here or that the vendor's client sends.
PARAMETERS = {
    "query",
    "search_depth",
    "topic",
    "days",
    "max_results",
    "include_images",
    "include_image_descriptions",
    "include_answer",
    "include_raw_content",
    "include_domains",
    "exclude_domains",
    "time_range",
    "start_date",
    "end_date",
    "country",
    "auto_parameters",
    "include_favicon",
    "include_usage",
}
DEPTHS = {"basic", "advanced", "fast", "ultra-fast"}
TOPICS = {"general", "news", "finance"}
RANGES = {"day", "week", "month", "year", "d", "w", "m", "y"}
# "Body > country": full names in lower case, only with the topic general; some of the list.
COUNTRIES = {"germany", "france", "united states", "united kingdom", "japan", "brazil", "austria", "south korea"}


class Tavily(SearchService):
    name = "tavily"
    key = "tvly-key-of-the-fake"

    @property
    def settings(self):
        return {"TAVILY_API_KEY": self.key, "TAVILY_BASE_URL": self.url}

    def error(self, status):
        """"Responses": every error is {"detail": {"error"}}; 432 and 433 are limits of a plan."""
        words = {
            400: "Invalid topic. Must be 'general' or 'news'.",
            401: "Unauthorized: missing or invalid API key.",
            429: "Your request has been blocked due to excessive requests.",
            432: "This request exceeds your plan's set usage limit.",
            433: "This request exceeds the pay-as-you-go limit.",
            500: "Internal Server Error",
        }
        return Reply({"detail": {"error": words.get(status, "Something went wrong")}}, status)

    def refuse(self, why):
        return Reply({"detail": {"error": why}}, 400)

    def search(self, asked):
        if asked.method != "POST" or asked.path != "/search":
            return Reply({"detail": "Not Found"}, 404)
        if asked.headers.get("authorization") != f"Bearer {self.key}":
            return self.error(401)
        body = json.loads(asked.body)
        check(body)
        if asked.headers.get("x-client-source", "").startswith("tavily-js"):
            need("query" in body, "query")
        return self.reply(asked, self.hits_for(body["query"])[: body.get("max_results", 5)])

    def reply(self, asked, hits):
        """"Response": query, images, results, response_time and request_id are always there; answer is null unless
        it was asked for."""
        body = json.loads(asked.body)
        results = [result(hit, index, body.get("topic")) for index, hit in enumerate(hits)]
        pictures = [hit.image or hit.link for hit in hits] if body.get("include_images") else []
        if body.get("include_image_descriptions"):
            pictures = [{"url": picture, "description": "What it shows"} for picture in pictures]
        answer = {
            "query": body["query"],
            "follow_up_questions": None,
            "answer": None,
            "images": pictures,
            "results": results,
            "response_time": 0.42,
            "request_id": "123e4567-e89b-12d3-a456-426614174111",
        }
        return self.packed(asked, answer)


def result(hit, index, topic):
    """"Response > results": title, url, content, score, raw_content; published_date for the topic news only."""
    return {
        "url": hit.link,
        "title": hit.title,
        "content": hit.snippet or "",
        "score": round(0.99 - index / 100, 2),
        "raw_content": None,
        **({"published_date": "Mon, 02 Nov 2026 10:00:00 GMT"} if topic == "news" else {}),
    }


def check(body):
    """"Body": what each parameter may be."""
    only(body, PARAMETERS)
    need(isinstance(body.get("query"), str) and body["query"].strip(), "Query is missing.")
    # "Best Practices for Search": at most 400 characters.
    need(len(body["query"]) <= 400, "Query is too long. Max query length is 400 characters.")
    need(0 <= body.get("max_results", 5) <= 20, "max_results")
    need(body.get("search_depth", "basic") in DEPTHS, "search_depth")
    need(body.get("topic", "general") in TOPICS, "Invalid topic.")
    need(body.get("time_range", "day") in RANGES, "Invalid time_range.")
    for name in ("start_date", "end_date"):
        need(re.fullmatch(r"\d{4}-\d\d-\d\d", body.get(name, "2020-01-01")), name)
    if "country" in body:
        need(body["country"] in COUNTRIES, "Invalid country.")
        need(body.get("topic", "general") == "general", "country is available with the topic general only")
    # "include_domains": at most 300; "exclude_domains": at most 150.
    need(len(body.get("include_domains", [])) <= 300, "include_domains")
    need(len(body.get("exclude_domains", [])) <= 150, "exclude_domains")

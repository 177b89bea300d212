"""A fake of the StackExchange API, version 2.3 (https://api.stackexchange.com/docs).

test_sources_code.py runs StackAPI against its search. Comments name the page of that documentation that describes what follows.
"""

import gzip
import html
import json
import re

from fakes.search_service import SearchService, need, only
from fakes.service import Reply

# "Usage > Filters": the built-in filter `withbody` is the default one with the body of each post.
# "Types > Question", "Types > Answer", "Types > Comment": the fields of the default filters used here.
# "Types > Shallow User": `owner` has display_name, reputation, user_id, user_type, link.


def owner(name):
    return {
        "account_id": 1,
        "reputation": 101,
        "user_id": 7,
        "user_type": "registered",
        "display_name": name,
        "link": "https://stackoverflow.com/users/7",
    }


def question(id, title, body, **more):
    """Types > Question. Titles come HTML-escaped."""
    return {
        "tags": ["c++"],
        "owner": owner("Asker"),
        "is_answered": True,
        "view_count": 12,
        "answer_count": 0,
        "score": 5,
        "last_activity_date": 1600000000,
        "creation_date": 1300000000,
        "question_id": id,
        "content_license": "CC BY-SA 4.0",
        "link": f"https://stackoverflow.com/questions/{id}/slug",
        "title": title,
        "body": body,
        **more,
    }


def answer(id, question_id, body, score=0, accepted=False):
    """Types > Answer."""
    return {
        "owner": owner(f"Answerer {id}"),
        "is_accepted": accepted,
        "score": score,
        "last_activity_date": 1600000000,
        "creation_date": 1400000000,
        "answer_id": id,
        "question_id": question_id,
        "content_license": "CC BY-SA 4.0",
        "body": body,
    }


def comment(id, post_id, body, score=0):
    """Types > Comment. Its body is not in the default filter either."""
    return {
        "owner": owner(f"Commenter {id}"),
        "edited": False,
        "score": score,
        "creation_date": 1500000000 + id,
        "post_id": post_id,
        "comment_id": id,
        "content_license": "CC BY-SA 4.0",
        "body": body,
    }


# "Usage > Methods > Per-Site Methods": `site` is a full domain name or an api_site_parameter.
SITES = {"stackoverflow.com", "stackoverflow", "pt.stackoverflow.com", "askubuntu.com", "math.stackexchange.com", "cooking.meta.stackexchange.com"}


class StackExchange(SearchService):
    name = "stackexchange"
    key = "stackexchange-key"

    def __init__(self):
        super().__init__()
        self.questions, self.answers, self.comments = {}, {}, []
        self.quota = 300  # "Usage > Throttles": 300 a day for an address, 10,000 with a key
        self.backoff = {}  # method -> seconds, said once

    @property
    def settings(self):
        return {"STACKEXCHANGE_BASE_URL": self.url, "STACKEXCHANGE_KEY": None}

    def reset(self):
        super().reset()
        self.quota, self.backoff = 300, {}

    def add(self, question, answers=(), comments=()):
        self.questions[question["question_id"]] = question
        self.answers.update({answer["answer_id"]: answer for answer in answers})
        self.comments.extend(comments)

    def wrap(self, body, status=200):
        """Usage > Compression: everything is compressed, whether or not it was asked for."""
        return Reply(gzip.compress(json.dumps(body).encode()), status, Content_Encoding="gzip")

    def wrong(self, id, name, message):
        """Usage > Error Handling: HTTP 400 with error_id, error_name, error_message."""
        return self.wrap({"error_id": id, "error_name": name, "error_message": message}, 400)

    def error(self, status):
        return self.wrap({"error_id": status, "error_name": "internal_error", "error_message": "x"}, status)

    def refuse(self, why):
        return self.wrong(400, "bad_parameter", why)

    def search(self, asked):
        """Docs > /search/advanced; "Usage > Throttles": a wrong key is refused."""
        only(asked.query, "q site page pagesize order sort fromdate todate filter key tagged accepted".split())
        need(asked.query.get("q", "").strip(), "q")
        need(asked.query.get("site") in SITES, "No site found for name")
        need(asked.query.get("order", "desc") in ("asc", "desc"), "order")
        need(asked.query.get("sort", "activity") in ("activity", "votes", "creation", "relevance"), "sort")
        need(asked.query.get("key", self.key) == self.key, "`key` doesn't match a known application")
        if self.quota <= 0:
            return self.spent()
        self.quota -= 1
        return self.reply(asked, self.hits_for(asked.query["q"]))

    def reply(self, asked, hits):
        found = [
            question(number, html.escape(hit.title), hit.snippet or "", link=hit.link, tags=["c++", "linux"])
            for number, hit in enumerate(hits)
        ]
        return self.page(asked, found, "search/advanced")

    def spent(self):
        # "Usage > Error Handling": 502, throttle_violation.
        words = "too many requests from this IP, more requests available in 100 seconds"
        return self.wrong(502, "throttle_violation", words)

    def sites(self, asked):
        """Docs > /sites, which clients ask first."""
        known = [{"name": "Stack Overflow", "api_site_parameter": "stackoverflow", "site_url": "https://stackoverflow.com"}]
        return self.wrap({"items": known, "has_more": False, "quota_max": 300, "quota_remaining": self.quota})

    def answer(self, asked):
        path = asked.path.rstrip("/")
        if path == "/2.3/search/advanced":
            return super().answer(asked)
        if path == "/2.3/sites":
            return self.sites(asked)
        match = re.fullmatch(r"/2\.3/(questions|answers)/([\d;]+)(/answers|/comments)?", asked.path)
        if not match:
            return self.wrong(404, "no_method", "this method cannot be called")
        if asked.query.get("site") not in SITES:
            return self.wrong(400, "bad_parameter", "No site found for name")
        if self.quota <= 0:
            return self.spent()
        self.quota -= 1
        kind, ids, list_name = match[1], [int(id) for id in match[2].split(";")], match[3]
        # "Usage > Methods > Vectorized Requests": up to 100 ids, separated by semicolons.
        if len(ids) > 100:
            return self.wrong(400, "bad_parameter", "ids")
        return self.page(asked, self.items(kind, ids, list_name), f"{kind}{list_name or ''}")

    def items(self, kind, ids, list_name):
        if list_name == "/comments":
            return [comment for comment in self.comments if comment["post_id"] in ids]
        if list_name == "/answers":
            found = [answer for answer in self.answers.values() if answer["question_id"] in ids]
            return sorted(found, key=lambda answer: -answer["score"])
        known = self.questions if kind == "questions" else self.answers
        return [known[id] for id in ids if id in known]

    def page(self, asked, items, method):
        """Usage > Paging: page from 1, pagesize to 100 (30 unsaid); Types > Common Wrapper Object."""
        size = int(asked.query.get("pagesize", 30))
        number = int(asked.query.get("page", 1))
        if size > 100:
            return self.wrong(400, "bad_parameter", "pagesize")
        shown = items[(number - 1) * size : number * size]
        if asked.query.get("filter") != "withbody":
            shown = [{name: value for name, value in item.items() if name != "body"} for item in shown]
        body = {
            "items": shown,
            "has_more": number * size < len(items),
            "quota_max": 10000 if "key" in asked.query else 300,
            "quota_remaining": self.quota,
        }
        if method in self.backoff:
            # "Usage > Throttles": wait so many seconds before the same method is asked again.
            body["backoff"] = self.backoff.pop(method)
        return self.wrap(body)

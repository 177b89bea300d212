"""A fake of Serper (https://serper.dev). It publishes no client and its reference is the playground
(https://serper.dev/playground), which shows the request and the answer of each kind of search; comments name the
"Search Type" there."""

import json

from fakes.search_service import SearchService, need, only
from fakes.service import Reply

# Playground, "Search Type": the path, and the list that it fills.
LISTS = {"/search": "organic", "/news": "news", "/scholar": "organic", "/images": "images"}

# Playground: the parameters of every type (location, autocorrect and type are not used here).
PARAMETERS = ("q", "num", "gl", "hl", "tbs", "page", "location", "autocorrect")


def organic(hit, position):
    """Search: title, link, snippet, position; date, sitelinks and attributes where Google shows them. A result may
    have no snippet."""
    return {
        "title": hit.title,
        "link": hit.link,
        **({"snippet": hit.snippet} if hit.snippet is not None else {}),
        **({"date": hit.date} if hit.date else {}),
        "position": position,
    }


def news(hit, position):
    """News: source and, mostly, imageUrl; date is as Google shows it ("3 days ago")."""
    return {
        "title": hit.title,
        "link": hit.link,
        "snippet": hit.snippet or "",
        "date": hit.date or "3 days ago",
        "source": "A paper",
        "imageUrl": "https://encrypted-tbn0.gstatic.com/images?q=tbn:fake",
        "position": position,
    }


def scholar(hit, _position):
    """Scholar: publicationInfo, year, citedBy, id; pdfUrl where there is one. It has no position."""
    return {
        "title": hit.title,
        "link": hit.link,
        "publicationInfo": "A Author, B Author - Journal of Things, 2020 - publisher.example",
        "snippet": hit.snippet or "",
        "year": 2020,
        "citedBy": 12,
        "id": "fake",
    }


def image(hit, position):
    """Images: link is the page that shows the image at imageUrl."""
    return {
        "title": hit.title,
        "imageUrl": hit.image or hit.link,
        "imageWidth": 640,
        "imageHeight": 480,
        "thumbnailUrl": "https://encrypted-tbn0.gstatic.com/images?q=tbn:fake",
        "thumbnailWidth": 100,
        "thumbnailHeight": 75,
        "source": "A site",
        "domain": "site.example",
        "link": hit.link,
        "googleUrl": "https://www.google.com/imgres?imgurl=fake",
        "position": position,
    }


SHAPES = {"/search": organic, "/news": news, "/scholar": scholar, "/images": image}


class Serper(SearchService):
    name = "serper"
    key = "serper-key-of-the-fake"

    @property
    def settings(self):
        return {"SERPER_API_KEY": self.key, "SERPER_BASE_URL": self.url}

    def error(self, status):
        """Every error: message and statusCode. A wrong key is 403 "Unauthorized."."""
        words = {400: "Missing query parameter", 401: "Unauthorized.", 403: "Unauthorized.", 429: "Too many requests."}
        return Reply({"message": words.get(status, "Something went wrong"), "statusCode": status}, status)

    def spent(self):
        return self.refuse("Not enough credits")

    def refuse(self, why):
        return Reply({"message": why, "statusCode": 400}, 400)

    def search(self, asked):
        if asked.method != "POST" or asked.path not in LISTS:
            return Reply({"message": "Not found", "statusCode": 404}, 404)
        if asked.headers.get("x-api-key") != self.key:
            return self.error(403)
        body = json.loads(asked.body)
        only(body, PARAMETERS)
        need(isinstance(body.get("q"), str) and body["q"].strip(), "Missing query parameter")
        need(isinstance(body.get("num", 10), int) and 1 <= body.get("num", 10) <= 100, "num")
        need(isinstance(body.get("page", 1), int) and body.get("page", 1) >= 1, "page")
        # Playground, "Country" and "Language": the codes of Google, in lower case.
        for name in ("gl", "hl"):
            need(body.get(name, "us") == body.get(name, "us").lower(), name)
        return self.reply(asked, self.hits_for(body["q"])[: body.get("num", 10)])

    def reply(self, asked, hits):
        """searchParameters repeats the request; credits is what it cost. An empty list is not left out."""
        shape = SHAPES[asked.path]
        body = {
            "searchParameters": {**json.loads(asked.body), "type": asked.path[1:], "engine": "google"},
            LISTS[asked.path]: [shape(hit, index + 1) for index, hit in enumerate(hits)],
            "credits": 1,
        }
        if asked.path == "/search" and hits:
            # Search: what else Google shows on the page. Nothing of it is a result.
            body["answerBox"] = {"snippet": "An answer", "title": "Box", "link": "https://answer.box.example/"}
            body["knowledgeGraph"] = {"title": "Thing", "type": "Idea", "website": "https://graph.example/"}
            body["peopleAlsoAsk"] = [{"question": "Why?", "snippet": "So.", "title": "A", "link": "https://paa.example/"}]
            body["relatedSearches"] = [{"query": "another thing"}]
        return self.packed(asked, body)

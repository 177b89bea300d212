"""A fake of the Openverse API (https://api.openverse.org/v1). Comments name the part of that page that describes what
follows."""

from fakes.search_service import SearchService, need, only
from fakes.service import Reply

PARAMETERS = {"q", "page", "page_size", "license", "license_type", "source", "extension", "mature"}


class Openverse(SearchService):
    name = "openverse"
    type = "images"

    @property
    def settings(self):
        return {"OPENVERSE_BASE_URL": self.url}

    def error(self, status):
        """"Throttling": detail says when to come back."""
        reply = Reply({"detail": "Request was throttled. Expected available in 1 second."}, status)
        reply.headers.update({"X-RateLimit-Limit-anon_burst": "20/min", "X-RateLimit-Available-anon_burst": "0"})
        return reply

    def refuse(self, why):
        return Reply({"detail": {"q": [why]}}, 400)

    def search(self, asked):
        # Without the slash at its end there is a redirect, and then nothing of the query is left.
        if asked.method != "GET" or asked.path != "/v1/images/":
            return Reply({"detail": "Not found."}, 404)
        form = asked.query
        only(form, PARAMETERS)
        need(0 < len(form.get("q", "")) <= 200, "Ensure this field has no more than 200 characters.")
        # "Anonymous requests may have at most 20 results to a page, and 240 in all."
        count = int(form.get("page_size", 20))
        if not 1 <= count <= 20 or int(form.get("page", 1)) * count > 240:
            return Reply({"detail": "Authentication credentials were not provided."}, 401)
        return self.reply(asked, self.hits_for(form["q"]))

    def reply(self, asked, hits):
        count, page = int(asked.query.get("page_size", 20)), int(asked.query.get("page", 1))
        shown = hits[count * (page - 1) : count * page]
        body = {"result_count": len(hits), "page_count": 1, "page_size": count, "page": page}
        return self.packed(asked, {**body, "results": [image(hit) for hit in shown], "warnings": []})


def image(hit):
    """"Image": url is the picture, foreign_landing_url its page, attribution how its maker is to be named."""
    return {
        "id": "4bc43a04-ef46-4544-a0c1-63c63f56e276", "title": hit.title, "foreign_landing_url": hit.link, "url": hit.image,
        "creator": "Ann", "creator_url": "https://ann.example", "license": "by", "license_version": "2.0",
        "license_url": "https://creativecommons.org/licenses/by/2.0/", "provider": "flickr", "source": "flickr",
        "category": None, "filesize": None, "filetype": "jpg", "tags": [], "mature": False, "height": 480, "width": 640,
        "attribution": f'"{hit.title}" by Ann is licensed under CC BY 2.0.', "fields_matched": ["title"],
    }  # fmt: skip

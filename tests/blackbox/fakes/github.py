"""A fake of GitHub: its REST API (docs.github.com, "REST API", version 2022-11-28), its GraphQL API ("GraphQL API")
and its server of raw files.

test_sources_code.py runs PyGithub against its search. Comments name the page of that documentation that describes what follows.
"""

import base64
import json
import re
import time

from fakes.search_service import SearchService, need, only
from fakes.service import Reply


def user(login):
    """REST API > Users: the simple user that other objects hold."""
    return {"login": login, "id": 1, "type": "User", "html_url": f"https://github.com/{login}"}


def issue(number, title, body, **more):
    """REST API > Issues > Get an issue. The body is Markdown or null; `pull_request` is there for those only."""
    return {
        "number": number,
        "title": title,
        "user": user("opener"),
        "labels": [{"id": 1, "name": "bug", "color": "f29513"}],
        "state": "open",
        "state_reason": None,
        "comments": 0,
        "created_at": "2020-01-01T00:00:00Z",
        "updated_at": "2020-01-02T00:00:00Z",
        "closed_at": None,
        "body": body,
        "html_url": f"https://github.com/o/r/issues/{number}",
        **more,
    }


def pull(number, title, body, **more):
    """REST API > Pull requests > Get a pull request."""
    return {
        **issue(number, title, body),
        "merged": True,
        "merged_at": "2020-01-03T00:00:00Z",
        "draft": False,
        "head": {"label": "someone:fix", "ref": "fix"},
        "base": {"label": "o:main", "ref": "main"},
        "additions": 10,
        "deletions": 2,
        "changed_files": 1,
        **more,
    }


def comment(id, body, login="commenter"):
    """REST API > Issues > Comments > List issue comments."""
    return {"id": id, "user": user(login), "created_at": f"2020-02-01T00:{id % 60:02}:00Z", "body": body}


def review(id, state, body, login="reviewer"):
    """REST API > Pull requests > Reviews > List reviews for a pull request."""
    return {"id": id, "user": user(login), "state": state, "body": body, "submitted_at": "2020-01-02T00:00:00Z"}


def review_comment(id, path, line, hunk, body, **more):
    """REST API > Pull requests > Comments > List review comments on a pull request."""
    return {
        "id": id,
        "path": path,
        "line": line,
        "original_line": line,
        "diff_hunk": hunk,
        "user": user("reviewer"),
        "created_at": "2020-01-02T00:00:00Z",
        "body": body,
        **more,
    }


def repository(name, **more):
    """REST API > Repositories > Get a repository."""
    return {
        "full_name": name,
        "owner": user(name.partition("/")[0]),
        "description": "Does something",
        "homepage": None,
        "stargazers_count": 42,
        "forks_count": 3,
        "open_issues_count": 1,
        "language": "C",
        "license": {"key": "mit", "name": "MIT License", "spdx_id": "MIT"},
        "topics": ["search"],
        "default_branch": "main",
        "archived": False,
        "pushed_at": "2020-05-05T00:00:00Z",
        **more,
    }


def file(repository, path, text):
    """REST API > Repositories > Contents > Get a repository README: base64 in lines of 60."""
    return {
        "type": "file",
        "name": path.rpartition("/")[2],
        "path": path,
        "encoding": "base64",
        "content": base64.encodebytes(text.encode()).decode(),
        "html_url": f"https://github.com/{repository}/blob/main/{path}",
        "download_url": f"https://raw.githubusercontent.com/{repository}/main/{path}",
    }


def release(tag, body, **more):
    """REST API > Releases > Get a release."""
    return {
        "tag_name": tag,
        "name": f"Release {tag}",
        "body": body,
        "draft": False,
        "prerelease": False,
        "author": user("releaser"),
        "published_at": "2020-06-06T00:00:00Z",
        "assets": [{"name": "a.tar.gz", "size": 12, "browser_download_url": "https://github.com/o/r/a.tar.gz"}],
        **more,
    }


def found_issue(number, hit):
    """REST API > Search > Search issues: an issue, with its place among the results."""
    address = "https://api.github.com/repos/o/r"
    return {**issue(number, hit.title, hit.snippet), "html_url": hit.link, "repository_url": address, "score": 1.0}


DOCUMENTATION = "https://docs.github.com/rest"


class GitHub(SearchService):
    name = "github"

    def __init__(self):
        super().__init__()
        # "REST API > Search > Rate limit": searches in a minute, for an address and with a token.
        self.searches_left = {False: 10, True: 30}
        self.objects = {}  # path below /repos -> an object, or a list that is paged
        self.discussions = {}  # number -> object of the GraphQL API with all its comments
        self.remaining = 60  # "REST API > Rate limits": 60 an hour for an address
        self.token = "github-token"

    @property
    def settings(self):
        return {"GITHUB_BASE_URL": self.url, "GITHUB_TOKEN": None}

    def reset(self):
        super().reset()
        self.searches_left = {False: 10, True: 30}

    def error(self, status):
        return self.say({"message": "Something is wrong", "documentation_url": DOCUMENTATION, "status": str(status)}, status)

    def refuse(self, why):
        """REST API > Search > Validation failed: 422 with a list of errors."""
        error = {"resource": "Search", "field": "q", "code": "invalid", "message": why}
        return self.say({"message": "Validation Failed", "errors": [error], "documentation_url": DOCUMENTATION}, 422)

    def search(self, asked):
        """REST API > Search > Search repositories, Search issues and pull requests."""
        known = "authorization" in asked.headers
        self.searches_left[known] -= 1
        if self.searches_left[known] < 0:
            reply = self.say({"message": "API rate limit exceeded for 127.0.0.1."}, 403)
            reset = int(time.time()) + 40
            reply.headers.update({"X-RateLimit-Remaining": 0, "X-RateLimit-Reset": reset, "X-RateLimit-Resource": "search"})
            return reply
        query = asked.query
        only(query, {"q", "sort", "order", "per_page", "page"})
        words = " ".join(word for word in query.get("q", "").split() if not re.match(r"(is|pushed|created|user|repo):", word))
        need(words, "q is missing")
        # "Limitations on query length": 256 characters without operators and qualifiers.
        need(len(words) <= 256, "The search is longer than 256 characters.")
        size, number = int(query.get("per_page", 30)), int(query.get("page", 1))
        # "About search": up to 1,000 results for each search.
        need(1 <= size <= 100 and size * number <= 1000, "Only the first 1000 search results are available")
        return self.reply(asked, self.hits_for(words)[(number - 1) * size : number * size])

    def reply(self, asked, hits):
        if asked.path == "/search/issues":
            # Since 2025 a search is for issues or for pull requests.
            need("is:issue" in asked.query["q"].split(), "Query must include 'is:issue' or 'is:pull-request'")
            items = [found_issue(number, hit) for number, hit in enumerate(hits)]
        else:
            items = [repository(hit.title, html_url=hit.link, description=hit.snippet) for hit in hits]
        return self.say({"total_count": len(items), "incomplete_results": False, "items": items})

    def limits(self):
        """REST API > Using the REST API > Rate limits > Checking the status of your rate limit: headers."""
        return {
            "X-RateLimit-Limit": 60,
            "X-RateLimit-Remaining": max(self.remaining, 0),
            "X-RateLimit-Reset": 1893456000,
            "X-RateLimit-Used": 60 - max(self.remaining, 0),
            "X-RateLimit-Resource": "core",
        }

    def say(self, body, status=200, **headers):
        reply = Reply(body, status)
        reply.headers.update(self.limits())
        reply.headers.update(headers)
        return reply

    def answer(self, asked):
        if "user-agent" not in asked.headers:
            # "Getting started with the REST API > User agent required": 403 without one.
            return Reply(b"Request forbidden by administrative rules.", 403, "text/plain")
        given = asked.headers.get("authorization")
        if given and given not in (f"Bearer {self.token}", f"token {self.token}"):
            # "Troubleshooting > 401 for bad credentials".
            return self.say({"message": "Bad credentials", "documentation_url": DOCUMENTATION, "status": "401"}, 401)
        if asked.path in ("/search/repositories", "/search/issues"):
            return super().answer(asked)
        if asked.path == "/graphql":
            return self.graphql(asked, given)
        if asked.path.startswith("/raw/"):
            return self.raw(asked)
        return self.rest(asked)

    def rest(self, asked):
        self.remaining -= 1
        if self.remaining < 0:
            # "Rate limits > Exceeding the rate limit": 403 or 429, x-ratelimit-remaining 0.
            return self.say({"message": "API rate limit exceeded for 127.0.0.1.", "documentation_url": DOCUMENTATION}, 403)
        found = self.objects.get(asked.path.removeprefix("/repos/"))
        if found is None:
            return self.say({"message": "Not Found", "documentation_url": DOCUMENTATION, "status": "404"}, 404)
        if not isinstance(found, list):
            return self.say(found)
        # "Using pagination in the REST API": per_page to 100 (30 unsaid), page, and the Link header.
        size = min(int(asked.query.get("per_page", 30)), 100)
        number = int(asked.query.get("page", 1))
        links = {}
        if number * size < len(found):
            here = f"{self.url}{asked.path}?per_page={size}&page="
            last = -(-len(found) // size)
            links["Link"] = f'<{here}{number + 1}>; rel="next", <{here}{last}>; rel="last"'
        return self.say(found[(number - 1) * size : number * size], **links)

    def raw(self, asked):
        """raw.githubusercontent.com/OWNER/REPOSITORY/REF/PATH; always text/plain for text."""
        found = self.objects.get(asked.path)
        if found is None:
            return Reply(b"404: Not Found", 404, "text/plain; charset=utf-8")
        return Reply(found, 200, "text/plain; charset=utf-8")

    def graphql(self, asked, given):
        """GraphQL API > Forming calls with GraphQL: POST {query, variables}; a token is needed."""
        if not given:
            return self.say({"message": "This endpoint requires you to be authenticated."}, 401)
        wanted = json.loads(asked.body)["variables"]
        found = self.discussions.get(wanted["number"])
        if found is None:
            # Errors come with HTTP 200, each with a type, a path and a message.
            error = {
                "type": "NOT_FOUND",
                "path": ["repository", "discussion"],
                "message": f"Could not resolve to a Discussion with the number of {wanted['number']}.",
            }
            return self.say({"data": {"repository": {"discussion": None}}, "errors": [error]})
        # "Using pagination in the GraphQL API": pageInfo with hasNextPage and endCursor.
        size = int(re.search(r"comments\(first: (\d+)", json.loads(asked.body)["query"])[1])
        start = int(wanted.get("after") or 0)
        nodes = found["comments"][start : start + size]
        more = start + size < len(found["comments"])
        comments = {"pageInfo": {"hasNextPage": more, "endCursor": str(start + size) if more else None}, "nodes": nodes}
        return self.say({"data": {"repository": {"discussion": {**found, "comments": comments}}}})


def discussion(number, title, body, comments):
    """GraphQL API > Guides > Using the GraphQL API for Discussions: the fields of a Discussion."""
    return {
        "number": number,
        "title": title,
        "body": body,
        "createdAt": "2020-01-01T00:00:00Z",
        "updatedAt": "2020-01-01T00:00:00Z",
        "author": {"login": "asker"},
        "category": {"name": "Q&A"},
        "comments": comments,
    }


def discussion_comment(body, answer=False, replies=()):
    """The fields of a DiscussionComment."""
    return {
        "body": body,
        "createdAt": "2020-01-02T00:00:00Z",
        "isAnswer": answer,
        "author": {"login": "helper"},
        "replies": {"nodes": [{"body": reply, "createdAt": "2020-01-03T00:00:00Z", "author": None} for reply in replies]},
    }

"""What Hacker News, Reddit, Mastodon, Discourse and Lemmy answer about a conversation, as their interfaces are described:
hn.algolia.com/api, Reddit's Atom feeds, docs.joinmastodon.org, docs.discourse.org, join-lemmy.org/api."""

import html


def hn_comment(number, parent, text, *children, author="commenter"):
    return {
        "id": number, "parent_id": parent, "story_id": 1, "type": "comment", "author": author, "title": None, "url": None,
        "text": text, "points": None, "created_at": "2026-02-03T04:05:06.000Z", "created_at_i": 1770091506,
        "children": list(children), "options": [],
    }  # fmt: skip


def hn_story(*children, text=None):
    return {
        "id": 1, "type": "story", "author": "teller", "title": "Show HN: A <thing>", "url": "https://thing.example/",
        "text": text, "points": 321, "parent_id": None, "story_id": 1, "created_at": "2026-02-03T01:00:00.000Z",
        "created_at_i": 1770080400, "children": list(children), "options": [],
    }  # fmt: skip


def reddit_entry(kind, number, author, title, text):
    return (
        f"<entry><author><name>/u/{author}</name><uri>https://www.reddit.com/user/{author}</uri></author>"
        f'<category term="x" label="r/x"/><content type="html">{html.escape(text)}</content><id>{kind}_{number}</id>'
        f'<link href="https://www.reddit.com/r/x/comments/{number}/"/><updated>2026-03-04T05:06:07+00:00</updated>'
        f"<published>2026-03-04T05:06:07+00:00</published><title>{html.escape(title)}</title></entry>"
    )


def reddit_feed(*entries):
    return (
        '<?xml version="1.0" encoding="UTF-8"?><feed xmlns="http://www.w3.org/2005/Atom"><updated>2026-03-04T05:06:07+00:00'
        "</updated><id>/r/x/comments/abc123/.rss</id><title>A thread : x</title>" + "".join(entries) + "</feed>"
    )


def status(number, text, above=None, **more):
    return {
        "id": str(number), "created_at": "2026-04-05T06:07:08.000Z", "edited_at": None, "in_reply_to_id": above,
        "spoiler_text": "", "language": "en", "url": f"http://public.test/@ada/{number}", "replies_count": 2,
        "reblogs_count": 3, "favourites_count": 4, "content": text, "media_attachments": [], "card": None, "poll": None,
        "account": {"acct": "ada", "display_name": "Ada", "url": "http://public.test/@ada"}, **more,
    }  # fmt: skip


def discourse_post(number, text, above=None, likes=0, **more):
    return {
        "id": 1000 + number, "post_number": number, "username": f"user{number}", "name": "", "cooked": text,
        "created_at": "2026-05-06T07:08:09.000Z", "reply_to_post_number": above,
        "actions_summary": [{"id": 2, "count": likes}] if likes else [], **more,
    }  # fmt: skip


def discourse_topic(posts, count=None):
    return {
        "id": 5, "title": "How to bake?", "fancy_title": "How to bake?", "posts_count": count or len(posts), "views": 99,
        "like_count": 7, "created_at": "2026-05-06T07:08:09.000Z", "tags": ["bread", {"name": "oven"}],
        "post_stream": {"posts": posts, "stream": [post["id"] for post in posts]},
    }  # fmt: skip


def lemmy_post(number=7, body="Read **this**."):
    return {
        "post_view": {
            "post": {"id": number, "name": "A post", "url": "https://thing.example/", "body": body,
                     "published": "2026-06-07T08:09:10.000000Z", "ap_id": "http://public.test/post/7"},
            "creator": {"name": "poster", "display_name": None}, "community": {"name": "bread", "title": "Bread"},
            "counts": {"score": 12, "upvotes": 13, "downvotes": 1, "comments": 3},
        }
    }  # fmt: skip


def lemmy_comment(number, path, text, score=1, **more):
    return {
        "comment": {"id": number, "content": text, "path": path, "published": "2026-06-08T08:09:10.000000Z",
                    "deleted": False, "removed": False, **more},
        "creator": {"name": f"user{number}"}, "post": {"id": 7}, "counts": {"score": score},
    }  # fmt: skip

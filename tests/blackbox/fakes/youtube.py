"""What YouTube serves for a video: its page, the player's answer, a track of words. As read by youtube-transcript-api 1.2."""

import json

ID = "dQw4w9WgXcQ"
DETAILS = {
    "videoId": ID, "title": "How to bake <bread>", "lengthSeconds": "754", "channelId": "UC1", "author": "The Baker",
    "shortDescription": "Flour & water.\nSecond line, *not* emphasis.\n\n0:00 Start", "viewCount": "12345",
}  # fmt: skip


def player(status="OK", tracks=None, **more):
    found = {
        "playabilityStatus": {"status": status},
        "videoDetails": DETAILS,
        "microformat": {"playerMicroformatRenderer": {"publishDate": "2026-01-02T03:04:05-08:00"}},
        **more,
    }
    if tracks is not None:
        found["captions"] = {"playerCaptionsTracklistRenderer": {"captionTracks": tracks}}
    return found


def watch_page(answer, key="AIzaSyKey-_1"):
    config = f'ytcfg.set({{"INNERTUBE_API_KEY":"{key}","x":1}});' if key else ""
    return (
        f"<!doctype html><html><head><title>How to bake - YouTube</title></head><body><script>{config}</script>"
        f"<script>if (window.ytInitialPlayerResponse) {{}} var ytInitialPlayerResponse = {json.dumps(answer)};var meta = 1;"
        "</script></body></html>"
    )


def track(path="/api/timedtext?v=x&lang=en", **more):
    return {"baseUrl": f"https://www.youtube.com{path}", "languageCode": "en", "name": {"simpleText": "English"}, **more}


TRANSCRIPT = (
    '<?xml version="1.0" encoding="utf-8" ?><transcript><text start="0.5" dur="2">Today we&amp;#39;re baking</text>'
    '<text start="3.1" dur="2">bread.</text><text start="31" dur="4">Take &amp;lt;b&amp;gt; flour</text>'
    '<text start="3700.2" dur="1">Done.</text></transcript>'
)
TRANSCRIPT_3 = (
    '<?xml version="1.0" encoding="utf-8" ?><timedtext format="3"><body><p t="500" d="2000"><s>Today</s><s t="9"> we bake</s></p>'
    '<p t="900" d="1"></p><p t="31000" d="3">Flour.</p></body></timedtext>'
)

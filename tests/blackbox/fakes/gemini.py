"""A fake of the Gemini API (ai.google.dev, "Gemini API > API reference"), version v1beta.

Comments name the page that describes what follows. What the Gemini CLI asks besides its conversation is answered
as well: its google_web_search is a request of its own with the tool `googleSearch`, its web_fetch one with
`urlContext`.
"""

import json
import re

from fakes.model import Conversation, Model
from fakes.service import Reply

KEY = "gemini-key-0123456789-abcdefghij"

# "Troubleshooting guide > Error codes": the status of each code; the words as the service gives them.
FAILURES = {
    (400, ""): ("INVALID_ARGUMENT", "Request contains an invalid argument."),
    (400, "key"): ("INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."),
    (401, ""): ("UNAUTHENTICATED", "Request had invalid authentication credentials."),
    (403, ""): ("PERMISSION_DENIED", "Your API key doesn't have the required permissions."),
    (404, ""): (
        "NOT_FOUND",
        "models/{model} is not found for API version v1beta, or is not supported for generateContent. "
        "Call ListModels to see the list of available models and their supported methods.",
    ),
    (429, ""): ("RESOURCE_EXHAUSTED", "You exceeded your current quota, please check your plan and billing details."),
    (429, "minute"): ("RESOURCE_EXHAUSTED", "You exceeded your current quota. Please retry in 1s."),
    (500, ""): ("INTERNAL", "An internal error has occurred."),
    (503, ""): ("UNAVAILABLE", "The model is overloaded. Please try again later."),
}


def failure(status, kind="", model=""):
    """google.rpc.Status in JSON, with the details that clients look at."""
    name, words = FAILURES[status, kind]
    details = []
    if kind == "key":
        details.append(
            {
                "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                "reason": "API_KEY_INVALID",
                "domain": "googleapis.com",
                "metadata": {"service": "generativelanguage.googleapis.com"},
            }
        )
    if status == 429:
        # "Rate limits": a limit of the day is over for today, one of the minute soon.
        period = "PerMinute" if kind else "PerDay"
        violation = {
            "quotaMetric": "generativelanguage.googleapis.com/generate_content_free_tier_requests",
            "quotaId": f"GenerateRequests{period}PerProjectPerModel-FreeTier",
            "quotaDimensions": {"location": "global", "model": model},
            "quotaValue": "10",
        }
        details.append({"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [violation]})
        if kind:
            details.append({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "1s"})
    return {"error": {"code": status, "message": words.format(model=model), "status": name, "details": details}}


class Dialect:
    """POST /v1beta/models/MODEL:streamGenerateContent?alt=sse"""

    path = "/v1beta/models/"

    def __init__(self, pieces=1):
        self.pieces = pieces

    @staticmethod
    def offered(request):
        """Generating content > Tool: functionDeclarations."""
        return [
            function["name"]
            for tool in request.get("tools", [])
            for function in tool.get("functionDeclarations", [])
        ]

    @staticmethod
    def results(request):
        """Function calling: a part of the user's holds a functionResponse."""
        for content in request["contents"]:
            for part in content["parts"]:
                if "functionResponse" in part:
                    yield part["functionResponse"]["response"]

    @staticmethod
    def content(parts, **candidate):
        """Generating content > GenerateContentResponse."""
        usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
        content = {"role": "model", "parts": parts}
        return {
            "candidates": [{"index": 0, "content": content, "finishReason": "STOP", **candidate}],
            "usageMetadata": usage,
            "modelVersion": "fake",
        }

    def ask(self, *calls):
        return [(None, self.content([{"functionCall": {"name": name, "args": given}} for name, given in calls]))]

    def say(self, words):
        """In pieces, as a stream comes; the last one says why it ends."""
        size = -(-len(words) // self.pieces) or 1
        texts = [words[at : at + size] for at in range(0, len(words), size)] or [""]
        events = [(None, self.content([{"text": text}])) for text in texts]
        for _, event in events[:-1]:
            del event["candidates"][0]["finishReason"]
        return events


class Gemini(Model):
    dialect = Dialect(pieces=3)

    def __init__(self, *script):
        super().__init__(script[0] if len(script) == 1 and callable(script[0]) else script)
        self.key = KEY
        self.searches = []  # what was searched for
        self.fetches = []  # what web_fetch wanted to be read
        self.answers = {}  # what a search finds: by its query, (title, address) pairs

    def answer(self, asked):
        match = re.fullmatch(r"/v1beta/models/([^/:]+):(streamGenerateContent|generateContent|countTokens)", asked.path)
        if asked.method != "POST" or not match:
            return Reply({"error": {"code": 404, "message": "Not Found", "status": "NOT_FOUND"}}, 404)
        model, method = match.groups()
        # "Using Gemini API keys": the header x-goog-api-key.
        if asked.headers.get("x-goog-api-key") != self.key:
            return Reply(failure(400, "key"), 400)
        request = json.loads(asked.body)
        if method == "countTokens":
            # "Counting tokens > CountTokensResponse".
            return Reply({"totalTokens": len(asked.body) // 4})
        tools = {name for tool in request.get("tools", []) for name in tool}
        if "googleSearch" in tools:
            return self.search(request)
        if "urlContext" in tools:
            return self.url_context(request)
        conversation = self.conversation(model, request, asked)
        if method == "generateContent":
            return Reply(self.dialect.content([{"text": "nothing to say"}]))
        if asked.query.get("alt") != "sse":
            return Reply(failure(400), 400)
        return self.reply_to(conversation)

    def conversation(self, model, request, asked):
        texts = [part.get("text", "") for part in request["contents"][0]["parts"]]
        return Conversation(
            model=model,
            prompt="\n".join(texts),
            offered=self.dialect.offered(request),
            results=[json.dumps(result) for result in self.dialect.results(request)],
            turn=sum(content.get("role") == "model" for content in request["contents"]),
            asked=asked,
        )

    def failure(self, turn, conversation):
        return Reply(failure(turn.status, turn.kind, conversation.model), turn.status)

    def search(self, request):
        """Grounding with Google Search: groundingMetadata with the queries, the pages, and what they support."""
        query = said(request)
        self.searches.append(query)
        found = self.answers.get(query, [("example.org", "https://example.org/")])
        words = f"What the web says about {query}."
        segment = {"startIndex": 0, "endIndex": len(words.encode()), "text": words}
        metadata = {
            "webSearchQueries": [query],
            "groundingChunks": [{"web": {"uri": address, "title": title}} for title, address in found],
            "groundingSupports": [{"segment": segment, "groundingChunkIndices": list(range(len(found)))}],
        }
        return Reply(self.dialect.content([{"text": words}], groundingMetadata=metadata))

    def url_context(self, request):
        """URL context: urlContextMetadata says how the reading of each address went."""
        addresses = re.findall(r"https?://[^\s\"'<>]+", said(request))
        self.fetches += addresses
        metadata = {
            "urlMetadata": [
                {"retrievedUrl": address, "urlRetrievalStatus": "URL_RETRIEVAL_STATUS_SUCCESS"} for address in addresses
            ]
        }
        return Reply(self.dialect.content([{"text": "What the page says."}], urlContextMetadata=metadata))


def said(request):
    """The text of the user's last message."""
    return "".join(part.get("text", "") for part in request["contents"][-1]["parts"])

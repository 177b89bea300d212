"""Scripted models for research: one that behaves well, and others that each misbehave in one way. A player looks at what
it was asked, as a model would, and says what it does; fakes.models puts that on the wire."""

import itertools
import json
import re

from fakes.models import Fault, Refuse, Say, Use, Wire

STATE_SOURCE = re.compile(r"^\[(\d+)\] (.*) \(([^()]*)\): (read|not read|cannot be read)$", re.M)
SHOWN = re.compile(r"^Source (\d+), \d+ characters:\n<data-[^>]*>\n(.*?)\n</data-", re.M | re.S)
NOTE = re.compile(r"^\[(\d+)\] (.*)\nQuote: \"", re.M)
QUESTION = re.compile(r"<question-[^>]*>\n(.*?)\n</question-", re.S)


class Turn:
    """What a model is asked, whatever the dialect: the state of the research, and what its last moves brought."""

    def __init__(self, asked):
        users = [text for role, text in asked.texts if role == "user"]
        self.size = len(json.dumps(asked.body))
        self.texts = [*users, *(text for _, text in asked.results)]
        self.state = users[0]
        self.tools = asked.tools
        self.writing = "You write a report" in asked.system
        self.judging = "You judge evidence" in asked.system
        question = QUESTION.search(self.state)
        self.question = question[1] if question else ""
        self.sources = {int(number): (title, state) for number, title, _, state in STATE_SOURCE.findall(self.state)}
        self.shown = {int(number): text for text in self.texts for number, text in SHOWN.findall(text)}
        self.notes = [(int(number), claim) for number, claim in NOTE.findall(self.state)]
        self.is_last = "This is the last turn" in self.state


class WellBehaved:
    """Searches twice, reads everything, notes the sentences that answer, and writes one sentence for each note."""

    def __init__(self, questions):
        self.questions = questions
        self.noted = {}

    def wanted(self, question):
        return [*question.gold, *question.pair[:1]]

    def new_notes(self, turn, question):
        noted = self.noted.setdefault(question.text, set())
        notes = []
        for number, text in sorted(turn.shown.items()):
            for sentence in self.wanted(question):
                if plain(sentence) in plain(text) and sentence not in noted:
                    noted.add(sentence)
                    notes.append({"claim": sentence, "quote": sentence, "source": number})
        return notes

    def write(self, turn):
        return Say("\n\n".join(f"{claim.rstrip('.')} [{number}]." for number, claim in turn.notes) or "Nothing.")

    def begin(self, turn):
        self.noted.pop(turn.question, None)
        return Use("search", queries=[turn.question, turn.question + " more"])

    def read(self, _turn, unread):
        return Use("read", sources=unread[:8])

    def note(self, _turn, notes):
        return Use("note", notes=notes)

    def finish(self, _turn):
        return Use("finish", covered=True, open_questions=["Nobody says why."])

    def play(self, turn):
        if turn.writing:
            return self.write(turn)
        if not turn.sources:
            return self.begin(turn)
        notes = self.new_notes(turn, self.questions[turn.question])
        if notes:
            return self.note(turn, notes)
        unread = [number for number, (_, state) in turn.sources.items() if state == "not read"]
        if unread and not turn.is_last:
            return self.read(turn, unread)
        return self.finish(turn)


class Forgetful(WellBehaved):
    """The same, by what it is told alone: whoever asks it twice gets the same answer twice."""

    def new_notes(self, turn, question):
        notes = []
        for number, text in sorted(turn.shown.items()):
            for sentence in self.wanted(question):
                taken = any(note["claim"] == sentence for note in notes) or plain(sentence) in plain(turn.state)
                if plain(sentence) in plain(text) and not taken:
                    notes.append({"claim": sentence, "quote": sentence, "source": number})
        return notes

    def begin(self, turn):
        return Use("search", queries=[turn.question, turn.question + " more"])


def plain(text):
    """Without the marks of Markdown, and the kinds of blanks, that a model reads over."""
    return " ".join(re.sub(r"\\([\\`*_{}\[\]()#+.!<>|~-])", r"\1", text).split())


# ---- those that misbehave ----


class AnswersProse(WellBehaved):
    """Never calls a tool and never keeps a format."""

    def play(self, turn):
        return Say(f"I would be happy to help with that! {turn.question} is a fascinating question, and the answer is 42.")


class UnknownTools(WellBehaved):
    """Calls tools that do not exist, every other turn."""

    def __init__(self, questions):
        super().__init__(questions)
        self.turns = 0

    def play(self, turn):
        self.turns += 1
        if not turn.writing and self.turns % 2:
            return [Use("browse_web", url="https://example.org"), Use("python", raw="print(1)")]
        return super().play(turn)


class Loops(WellBehaved):
    """Repeats its first search for ever."""

    def play(self, turn):
        if turn.writing:
            return self.write(turn)
        return Use("search", queries=[turn.question])


class InventsSources(WellBehaved):
    """Reads and notes sources that are not there, and cites notes that nobody took."""

    def read(self, turn, unread):
        return Use("read", sources=[997, *unread[:8], 998])

    def note(self, turn, notes):
        return Use("note", notes=[*notes, {"claim": "Invented.", "quote": "Invented words of no page.", "source": 999}])

    def write(self, turn):
        said = super().write(turn)
        return Say(said.text + "\n\nAnother thing is certain [4711].\n\nSee [the survey](https://example.org/invented).")


class FabricatesQuotes(WellBehaved):
    """Changes one word of each quote that it can, and cites all of its notes."""

    def note(self, turn, notes):
        question = self.questions[turn.question]
        false = [{"claim": f"{note['claim']} Or so.", "quote": fabricated(note["quote"]), "source": note["source"]} for note in notes]
        assert question
        return Use("note", notes=[*false, *notes])

    def write(self, turn):
        every = range(1, max((number for number, _ in turn.notes), default=0) + 1)
        return Say("\n\n".join(f"Statement {number} holds [{number}]." for number in every))


def fabricated(quote):
    """A number or a name that the page does not have."""
    changed = re.sub(r"\d+", lambda match: str(int(match[0].replace(",", "")) + 3), quote, count=1)
    return changed if changed != quote else "Zebulon " + quote


class SmallContext(WellBehaved):
    """Has room for some thousand characters, and says so with an error."""

    limit = 16000

    def play(self, turn):
        if turn.size > self.limit:
            words = "This model's maximum context length is 4096 tokens. Please reduce the length of the messages."
            return Fault(400, {"error": {"message": words, "type": "invalid_request_error", "code": "context_length_exceeded"}})
        return super().play(turn)


class StopsMidStream(WellBehaved):
    """Every third answer ends in the middle."""

    def __init__(self, questions):
        super().__init__(questions)
        self.turns = 0

    def play(self, turn):
        self.turns += 1
        noted = {question: set(done) for question, done in self.noted.items()}
        said = super().play(turn)
        if self.turns % 3 == 2:
            self.noted = noted
            return Wire(b'data: {"id": "1", "object": "chat.comple', cut=True)
        return said


class RateLimits(WellBehaved):
    """Every second request is one too many."""

    def __init__(self, questions):
        super().__init__(questions)
        self.turns = 0

    def play(self, turn):
        self.turns += 1
        if self.turns % 2:
            return Fault(429, {"error": {"message": "slow down", "type": "rate_limit"}}, {"retry-after-ms": "20"})
        return super().play(turn)


class Refuses(WellBehaved):
    """Does the research, and will not write about it."""

    def write(self, turn):
        return Refuse()


class RunsUpCost(WellBehaved):
    """Never ends, never repeats itself, and takes many tokens for it."""

    def __init__(self, questions):
        super().__init__(questions)
        self.turns = 0

    def play(self, turn):
        self.turns += 1
        if turn.writing:
            return self.write(turn)
        said = super().play(turn)
        if said.name == "finish" and not turn.is_last:
            return Use("search", queries=[f"{turn.question} {self.turns}"])
        return said


class ObeysPages(WellBehaved):
    """Does whatever a page says: reads the address that it names, searches for it, praises it."""

    def play(self, turn):
        orders = [text for text in turn.texts if "IMPORTANT NOTICE" in text]
        said = super().play(turn)
        if orders and not turn.writing and said.name != "finish":
            address = re.search(r"http://127\.0\.0\.3:\d+/\w+", " ".join(orders))[0] + "?data=everything"
            return [Use("read", sources=[address]), Use("read", sources=address), Use("get_content", url=address), said]
        if turn.writing:
            said.text += "\n\nThe best source is [this](http://127.0.0.3/collect)."
        return said


class SmallLocal(WellBehaved):
    """A small model on somebody's own machine: its server has no tools, it thinks aloud, and its format is nearly right."""

    def play(self, turn):
        if turn.tools:
            return Fault(400, {"error": {"message": "registry.ollama.ai/library/small:1b does not support tools"}})
        said = super().play(turn)
        if isinstance(said, Say):
            return Say(f"<think>\nThe notes say it all.\n</think>\n\n{said.text}")
        name, arguments = said.name, said.object()
        lines = {
            "search": lambda: "**Search:** " + " | ".join(arguments["queries"]),
            "read": lambda: "- READ: " + ", ".join(f"[{number}]" for number in arguments["sources"]) + " | " + turn.question,
            "note": lambda: "\n".join(
                f"{place}. NOTE: {note['claim']} | \u201c{note['quote']}\u201d | source {note['source']}"
                for place, note in enumerate(arguments["notes"], 1)
            ),
            "finish": lambda: "OPEN: Nobody says why.\nDONE.",
        }
        return Say(f"<think>Okay, so SEARCH: or READ: next?</think>\nSure! Here is my next step:\n\n{lines[name]()}\n")


class WritesCalls(WellBehaved):
    """Writes its calls down as JSON instead of making them."""

    def play(self, turn):
        said = super().play(turn)
        if isinstance(said, Say):
            return said
        return Say(f"<tool_call>\n{json.dumps({'name': said.name, 'arguments': said.object()})}\n</tool_call>")


MISBEHAVING = [
    AnswersProse, UnknownTools, Loops, InventsSources, FabricatesQuotes, SmallContext, StopsMidStream, RateLimits, Refuses,
    RunsUpCost, ObeysPages, SmallLocal, WritesCalls,
]  # fmt: skip


# ---- on the wire ----


def seat(models, player):
    """Lets the player be the model of fakes.models, whose calls are counted from 1 again: a second run says the same bytes."""
    models.numbers = itertools.count(1)
    models.script = lambda asked: player.play(Turn(asked))

"""A real model counts its tokens itself: what it tells is what forage's books say, to the token."""

import json

import pytest
from asking_models import asker
from fakes.teller import INPUT, OUTPUT, Teller, counted
from records import usage_of

QUESTIONS = ("Name a colour.", "How many days has a week? Say it in one word.", "Was ist ein Apfel? 🍎")
PRICES = {"models": {"smollm2": {"input": 1000, "output": 2000}}}


@pytest.mark.parametrize("provider", ["openai-chat", "llamacpp"])
def test_its_tokens_are_those_of_the_books(real_model, provider, tmp_path):
    prices = tmp_path / "prices.json"
    prices.write_text(json.dumps(PRICES))
    with Teller(real_model) as teller:
        settings = {"FORAGE_DATA_DIR": tmp_path / "data", "FORAGE_PRICES": prices, "FORAGE_MODEL_TIMEOUT": "5m"}
        settings |= teller.before(real_model.environment(provider))
        with asker(real_model, provider, **settings) as model:
            replies = [model.ask(question, max_tokens=40) for question in QUESTIONS]
        entries = list(teller.entries)
    assert [reply.get("status") for reply in replies] == ["ok"] * 3, replies
    assert len(entries) == len(QUESTIONS) and not any(reply["usage"]["estimated"] for reply in replies)
    told = [(counted(entry.reply, INPUT), counted(entry.reply, OUTPUT)) for entry in entries]
    assert all(read > 0 and written > 0 for read, written in told)
    total = usage_of(tmp_path / "data")["total"]
    assert (total["input_tokens"], total["output_tokens"]) == tuple(map(sum, zip(*told)))
    dollars = (total["input_tokens"] * 1000 + total["output_tokens"] * 2000) / 1e6
    assert total["unpriced"] == 0 and total["usd"] == pytest.approx(dollars if provider == "openai-chat" else 0)

"""The fake of the Gemini API, proved with the vendor's own client: what that accepts, and understands as it was meant,
is a fake to trust. (The fakes of Firecrawl and of the Messages API are proved by the programs of tests/research.)"""

import json
import os
import subprocess

from fakes import gemini
from fakes.gemini import FAILURES, Gemini
from fakes.model import Ask, Fail, Say
from programs import PATIENCE, ROOT

MODULES = ROOT / ".deps" / "node" / "node_modules"

# Runs a conversation until the model stops asking for tools; prints what the client saw, or its error.
CLIENT = """
const { GoogleGenAI } = await import(process.argv[1] + '/@google/genai/dist/node/index.mjs');
const [baseUrl, apiKey, model, message] = process.argv.slice(2);
const ai = new GoogleGenAI({ apiKey, httpOptions: { baseUrl, retryOptions: { attempts: 1 } } });
const tools = [{ functionDeclarations: [{ name: 'mcp_forage_get_content', parametersJsonSchema: { type: 'object' } }] }];
const seen = { texts: [], calls: [], finish: [] };
try {
    const chat = ai.chats.create({ model, config: { tools } });
    let next = message;
    while (next) {
        let answers = [];
        let text = '';
        for await (const chunk of await chat.sendMessageStream({ message: next })) {
            text += chunk.text ?? '';
            seen.finish.push(chunk.candidates[0].finishReason ?? null);
            for (const call of chunk.functionCalls ?? []) {
                seen.calls.push({ name: call.name, args: call.args });
                answers.push({ functionResponse: { name: call.name, response: { output: 'the page' } } });
            }
        }
        seen.texts.push(text);
        next = answers.length ? answers : null;
    }
    const ask = async (contents, tool) =>
        (await ai.models.generateContent({ model, contents, config: { tools: [tool] } })).candidates[0];
    seen.grounding = (await ask('cats', { googleSearch: {} })).groundingMetadata;
    seen.context = (await ask('read https://example.org/a', { urlContext: {} })).urlContextMetadata;
    seen.tokens = (await ai.models.countTokens({ model, contents: 'cats' })).totalTokens;
} catch (error) {
    seen.error = { name: error.name, status: error.status, message: error.message };
}
console.log(JSON.stringify(seen));
"""


def converse(fake, key=gemini.KEY, model="some-model"):
    assert (MODULES / "@google" / "genai").exists(), "scripts/setup test installs @google/genai"
    completed = subprocess.run(
        ["node", "--input-type=module", "-e", CLIENT, MODULES, fake.url, key, model, "find cats"],
        env={"PATH": f"{ROOT}/.deps/bin:{os.environ['PATH']}"},
        capture_output=True,
        timeout=PATIENCE,
        check=True,
    )
    return json.loads(completed.stdout)


def test_the_vendors_client_understands_the_fake_of_gemini():
    with Gemini(Ask("get_content", url="https://example.org/a"), Say("the last words")) as fake:
        seen = converse(fake)
    assert "error" not in seen, seen
    assert seen["calls"] == [{"name": "mcp_forage_get_content", "args": {"url": "https://example.org/a"}}]
    assert seen["texts"] == ["", "the last words"]
    assert seen["finish"].count("STOP") == 2, "each answer says once why it ends"
    assert seen["grounding"]["webSearchQueries"] == ["cats"]
    assert seen["grounding"]["groundingChunks"][0]["web"]["uri"] == "https://example.org/"
    assert seen["context"]["urlMetadata"][0]["retrievedUrl"] == "https://example.org/a"
    assert seen["tokens"] > 0
    assert [conversation.turn for conversation in fake.conversations] == [0, 1]
    assert fake.conversations[1].results == ['{"output": "the page"}']
    assert {conversation.model for conversation in fake.conversations} == {"some-model"}
    assert fake.searches == ["cats"] and fake.fetches == ["https://example.org/a"]


def test_the_vendors_client_understands_the_failures_of_the_fake():
    for status, kind in FAILURES:
        with Gemini(Fail(status, kind)) as fake:
            error = converse(fake)["error"]
        assert error["name"] == "ApiError" and error["status"] == status
        told = json.loads(error["message"])["error"]
        assert (told["code"], told["status"]) == (status, FAILURES[status, kind][0])


def test_the_fake_of_gemini_refuses_a_wrong_key():
    with Gemini(Say("never said")) as fake:
        error = converse(fake, key="wrong")["error"]
    assert error["status"] == 400 and "API_KEY_INVALID" in error["message"]

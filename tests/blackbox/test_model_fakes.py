"""The fakes of models are accepted by the vendors' own clients: with tools and without, streamed and whole, in pieces of
several sizes."""

import pytest
from fakes.models import KEY, Models, Say, Use
from vendors import PYTHON_OF_MODELS, run_python

TEXT = "Two and two are four: ½ of 8, ☂."
REASONING = "The user wants a sum."


def script(turn):
    if "sum" in turn.prompt and not turn.results:
        return [Use("add", a=2, b=2, reasoning=REASONING), Use("add", a=40, b=2)]
    if turn.results:
        return Say(f"{TEXT} {' '.join(str(text) for _, text in turn.results)}", REASONING)
    return Say(TEXT, REASONING)


BEGINNING = f"key = {KEY!r}\ntext = {TEXT!r}\nflavour = sys.argv[2]\n"
SCHEMA = '{"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}'

# Each says four things: a text, whole and streamed, and what came of two uses, whole and streamed.
CHAT = f"""
tools = [{{"type": "function", "function": {{"name": "add", "description": "Adds.", "parameters": {SCHEMA}}}}}]
def options(stream):
    return {{"stream": True}} if stream else {{}}

def gather(stream, **request):
    if not stream:
        message = client.chat.completions.create(**request).choices[0].message
        return message.content, [(c.id, c.function.name, c.function.arguments) for c in message.tool_calls or []], message
    content, calls, order = "", {{}}, []
    for chunk in client.chat.completions.create(stream=True, **request):
        for choice in chunk.choices:
            content += choice.delta.content or ""
            for call in choice.delta.tool_calls or []:
                if call.id:
                    order.append([call.id, call.function.name, ""])
                order[-1][2] += call.function.arguments or ""
    return content, [tuple(call) for call in order], None

for stream in (False, True):
    content, calls, _ = gather(stream, model="m", messages=[{{"role": "user", "content": "hello"}}])
    say(content)
for stream in (False, True):
    messages = [{{"role": "user", "content": "the sum, please"}}]
    content, calls, message = gather(stream, model="m", messages=messages, tools=tools)
    turn = {{"role": "assistant", "content": content or None, "tool_calls": [
        {{"id": id, "type": "function", "function": {{"name": name, "arguments": arguments}}}} for id, name, arguments in calls]}}
    if flavour == "deepseek":
        turn["reasoning_content"] = "thought"
    messages.append(turn)
    for id, name, arguments in calls:
        given = json.loads(arguments)
        messages.append({{"role": "tool", "tool_call_id": id, "content": str(given["a"] + given["b"])}})
    say(gather(stream, model="m", messages=messages, tools=tools)[0])
"""

OPENAI = "import openai\nclient = openai.OpenAI(base_url=url, api_key=key, max_retries=0)\n" + CHAT
GROQ = "import groq\nclient = groq.Groq(base_url=url, api_key=key, max_retries=0)\n" + CHAT

RESPONSES = f"""
import openai
client = openai.OpenAI(base_url=url, api_key=key, max_retries=0)
tools = [{{"type": "function", "name": "add", "parameters": {SCHEMA}, "strict": False}}]

def ask(stream, **request):
    if not stream:
        return client.responses.create(model="m", store=False, **request)
    with client.responses.stream(model="m", store=False, **request) as events:
        heard = "".join(event.delta for event in events if event.type == "response.output_text.delta")
        response = events.get_final_response()
    assert heard == response.output_text, heard
    return response

for stream in (False, True):
    say(ask(stream, input="hello").output_text)
for stream in (False, True):
    items = [{{"role": "user", "content": "the sum, please"}}]
    response = ask(stream, input=items, tools=tools, include=["reasoning.encrypted_content"])
    keep = ("id", "type", "call_id", "name", "arguments", "summary", "encrypted_content", "status")
    for item in response.output:
        items.append({{k: v for k, v in item.model_dump(exclude_none=True).items() if k in keep}})
    for item in response.output:
        if item.type == "function_call":
            given = json.loads(item.arguments)
            items.append({{"type": "function_call_output", "call_id": item.call_id, "output": str(given["a"] + given["b"])}})
    say(ask(stream, input=items, tools=tools, include=["reasoning.encrypted_content"]).output_text)
"""

ANTHROPIC = f"""
import anthropic
client = anthropic.Anthropic(base_url=url, api_key=key, max_retries=0)
tools = [{{"name": "add", "input_schema": {SCHEMA}}}]

def ask(stream, **request):
    if not stream:
        return client.messages.create(model="m", max_tokens=100, **request)
    with client.messages.stream(model="m", max_tokens=100, **request) as events:
        return events.get_final_message()

def words(message):
    return "".join(block.text for block in message.content if block.type == "text")

for stream in (False, True):
    say(words(ask(stream, messages=[{{"role": "user", "content": "hello"}}])))
for stream in (False, True):
    messages = [{{"role": "user", "content": "the sum, please"}}]
    message = ask(stream, messages=messages, tools=tools)
    messages.append({{"role": "assistant", "content": message.content}})
    messages.append({{"role": "user", "content": [
        {{"type": "tool_result", "tool_use_id": block.id, "content": str(block.input["a"] + block.input["b"])}}
        for block in message.content if block.type == "tool_use"]}})
    say(words(ask(stream, messages=messages, tools=tools)))
"""

GEMINI = f"""
from google import genai
from google.genai import types
client = genai.Client(api_key=key, http_options=types.HttpOptions(base_url=url))
tools = [types.Tool(function_declarations=[types.FunctionDeclaration(name="add", description="Adds.", parameters_json_schema={SCHEMA})])]

def ask(stream, contents, config=None):
    if not stream:
        return list(client.models.generate_content(model="m", contents=contents, config=config).candidates[0].content.parts)
    parts = []
    for event in client.models.generate_content_stream(model="m", contents=contents, config=config):
        parts += event.candidates[0].content.parts or []
    return parts

def words(parts):
    return "".join(part.text or "" for part in parts if not part.thought)

for stream in (False, True):
    say(words(ask(stream, "hello")))
for stream in (False, True):
    config = types.GenerateContentConfig(tools=tools, automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True))
    contents = [types.Content(role="user", parts=[types.Part(text="the sum, please")])]
    parts = ask(stream, contents, config)
    contents.append(types.Content(role="model", parts=parts))
    contents.append(types.Content(role="user", parts=[
        types.Part.from_function_response(name="add", response={{"output": str(p.function_call.args["a"] + p.function_call.args["b"])}})
        for p in parts if p.function_call]))
    say(words(ask(stream, contents, config)))
"""

OLLAMA = f"""
import ollama
client = ollama.Client(host=url)
tools = [{{"type": "function", "function": {{"name": "add", "description": "Adds.", "parameters": {SCHEMA}}}}}]

def ask(stream, messages, **more):
    content, calls = "", []
    answer = client.chat(model="m", messages=messages, stream=stream, **more)
    for event in answer if stream else [answer]:
        content += event.message.content or ""
        calls += event.message.tool_calls or []
    return content, calls

for stream in (False, True):
    say(ask(stream, [{{"role": "user", "content": "hello"}}])[0])
for stream in (False, True):
    messages = [{{"role": "user", "content": "the sum, please"}}]
    content, calls = ask(stream, messages, tools=tools)
    messages.append({{"role": "assistant", "content": content, "tool_calls": calls}})
    for call in calls:
        given = call.function.arguments
        messages.append({{"role": "tool", "tool_name": call.function.name, "content": str(given["a"] + given["b"])}})
    say(ask(stream, messages, tools=tools)[0])
"""

MISTRAL = f"""
try:
    from mistralai.client import Mistral
except ImportError:
    from mistralai import Mistral
client = Mistral(api_key=key, server_url=url.removesuffix("/v1"))
tools = [{{"type": "function", "function": {{"name": "add", "description": "Adds.", "parameters": {SCHEMA}}}}}]

def ask(stream, messages, **more):
    if not stream:
        message = client.chat.complete(model="m", messages=messages, **more).choices[0].message
        return message.content or "", message.tool_calls or []
    content, calls = "", []
    for event in client.chat.stream(model="m", messages=messages, **more):
        delta = event.data.choices[0].delta
        content += delta.content or ""
        calls += delta.tool_calls or []
    return content, calls

for stream in (False, True):
    say(ask(stream, [{{"role": "user", "content": "hello"}}])[0])
for stream in (False, True):
    messages = [{{"role": "user", "content": "the sum, please"}}]
    content, calls = ask(stream, messages, tools=tools)
    messages.append({{"role": "assistant", "content": content, "tool_calls": [call.model_dump() for call in calls]}})
    for call in calls:
        given = call.function.arguments
        given = json.loads(given) if isinstance(given, str) else given
        messages.append({{"role": "tool", "tool_call_id": call.id, "name": "add", "content": str(given["a"] + given["b"])}})
    say(ask(stream, messages, tools=tools)[0])
"""

CLIENTS = [
    (OPENAI, "openai-chat", "/v1"),
    (OPENAI, "ollama", "/v1"),
    (OPENAI, "llamacpp", "/v1"),
    (OPENAI, "vllm", "/v1"),
    (OPENAI, "lmstudio", "/v1"),
    (OPENAI, "openrouter", "/v1"),
    (OPENAI, "deepseek", "/v1"),
    (RESPONSES, "openai", "/v1"),
    (ANTHROPIC, "anthropic", ""),
    (GEMINI, "gemini", ""),
    (GROQ, "groq", ""),
    (MISTRAL, "mistral", "/v1"),
    (OLLAMA, "ollama", ""),
]


@pytest.mark.parametrize("piece", [0, 13])
@pytest.mark.parametrize(("client", "flavour", "path"), CLIENTS, ids=[f"{name}{path.replace('/', '-')}" for _, name, path in CLIENTS])
def test_vendors_client(client, flavour, path, piece):
    with Models(script) as models:
        models.piece = piece
        said = run_python(BEGINNING + client, f"{models.url}/{flavour}{path}", flavour, python=PYTHON_OF_MODELS)
        assert said == [TEXT, TEXT, f"{TEXT} 4 42", f"{TEXT} 4 42"]
        assert len(models.turns) == 6
        assert [turn.stream for turn in models.turns] == [False, True, False, False, True, True]

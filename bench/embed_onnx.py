"""The same as bench/embed.c with ONNX Runtime, on the files of the registry's package: JAR < TEXTS > VECTORS. It runs on
one core; the memory is what the runtime and the model take, without Python's."""

import json
import os
import sys
import tempfile
import time
import zipfile

import numpy
import onnxruntime
import tokenizers


def memory():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20


def open_model(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def main():
    with zipfile.ZipFile(sys.argv[1]) as jar, tempfile.TemporaryDirectory() as folder:
        weights, words = (jar.extract(next(name for name in jar.namelist() if name.endswith(end)), folder)
                          for end in (".onnx", "tokenizer.json"))  # fmt: skip
        reader = tokenizers.Tokenizer.from_file(words)
        reader.enable_truncation(512)
        before = memory()
        start = time.process_time()
        session = open_model(weights)
        opened = time.process_time()
    texts = sys.stdin.buffer.read().decode().split("\0")[:-1]
    vectors = []
    begun = time.process_time()
    for text in texts:
        tokens = numpy.array([reader.encode("passage: " + text).ids], dtype=numpy.int64)
        inputs = {"input_ids": tokens, "attention_mask": numpy.ones_like(tokens), "token_type_ids": numpy.zeros_like(tokens)}
        vector = session.run(None, inputs)[0][0].mean(0)
        vectors.append(vector / numpy.linalg.norm(vector))
    spent = time.process_time() - begun
    sys.stdout.buffer.write(numpy.array(vectors, dtype=numpy.float32).tobytes())
    figures = {"start": (opened - start) * 1e3, "each": spent * 1e3 / max(len(texts), 1), "memory": memory() - before}
    print(json.dumps(figures), file=sys.stderr)


main()

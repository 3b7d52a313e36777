"""The integer forward pass of docs/internals/model.md once more, in numpy, written from that page and apart from the Go code.

It reads weights/model.bin and yields, for the pieces of one text, a checksum of each layer and the final bytes.
Matrix products are made in binary64, where each sum of products below 2^53 is exact; all else is int64.
"""
import math, struct
import numpy as np

LAYERS, HIDDEN, FFN, VOCAB, PIECES, HEADS = 6, 384, 1536, 30522, 128, 12
WIDTH = HIDDEN // HEADS
LINEAR_LIMIT, INPUT_LIMIT, HEAD_LIMIT = 2**25 - 1, 2**22 - 1, 2**21 - 1


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, size):
        part = self.data[self.at : self.at + size]
        assert len(part) == size
        self.at += size + -size % 64
        return part

    def ints(self, n):
        return np.frombuffer(self.take(4 * n), "<i4").astype(np.int64)

    def matrix(self, n, k):
        return np.frombuffer(self.take(n * k), np.int8).reshape(n, k)


def shifted(x, bits):
    """x * 2^-bits, rounded to the nearest integer, halves up."""
    return (x + (1 << (bits - 1))) >> bits


class Linear:
    def __init__(self, r, n):
        self.n = n
        self.exponent = int(r.ints(1)[0])
        self.scale, self.bias = r.ints(n), r.ints(n)

    def __call__(self, q, m):
        sums = (q.astype(np.float64) @ self.weights.T).astype(np.int64)
        factor = shifted(m[:, None] * self.scale[None, :], 10)
        y = shifted(sums * factor, self.exponent - 10) + self.bias
        return np.clip(y, -LINEAR_LIMIT, LINEAR_LIMIT)


class Norm:
    def __init__(self, r):
        self.gain, self.bias = r.ints(HIDDEN), r.ints(HIDDEN)

    def __call__(self, x):
        mean = (2 * x.sum(axis=1) + HIDDEN) // (2 * HIDDEN)
        d = x - mean[:, None]
        y = np.empty_like(x)
        for i, row in enumerate(d):
            v = int((row * row).sum())
            if v == 0:
                y[i] = self.bias
                continue
            e = 0
            while v << (e + 2) < 1 << 62:
                e += 2
            inverse = (1 << 61) // math.isqrt(v << e)
            z = shifted(row * inverse, 37 - e // 2)
            y[i] = shifted(z * self.gain, 28) + self.bias
        return y


def quantised(x, limit=INPUT_LIMIT):
    """int8 in units of the largest absolute value / 127, along the last axis."""
    m = np.minimum(np.abs(x).max(axis=-1), limit)
    r = (127 << 32) // np.maximum(m, 1)
    q = shifted(x * r[..., None], 32)
    return np.clip(q, -127, 127), m


class Model:
    def __init__(self, path):
        with open(path, "rb") as file:
            r = Reader(file.read())
        head = r.take(64)
        assert head[:16] == b"mnem minilm 1\n\0\0"
        assert struct.unpack_from("<6i", head, 16) == (LAYERS, HIDDEN, FFN, VOCAB, PIECES, HEADS)
        self.power = r.ints(256), r.ints(256)
        self.gelu_table = r.ints(8 * 256 + 1)
        self.place = r.ints(PIECES * HIDDEN).reshape(PIECES, HIDDEN)
        self.norm = Norm(r)
        self.word_exponent = int(r.ints(1)[0])
        self.word_scale = r.ints(VOCAB)
        self.layers = []
        for _ in range(LAYERS):
            linears = [Linear(r, n) for n in (3 * HIDDEN, HIDDEN, FFN, HIDDEN)]
            self.layers.append((linears, Norm(r), Norm(r), r.ints(HIDDEN), r.ints(HIDDEN)))
        begin, inside, text, _ = r.ints(4)
        r.ints(begin + inside), r.ints(begin + inside), r.take(int(text))
        r.take(-r.at % 4096)
        for linears, *_ in self.layers:
            for linear, k in zip(linears, (HIDDEN, HIDDEN, HIDDEN, FFN)):
                linear.weights = r.matrix(linear.n, k).astype(np.float64)
        self.words = r.matrix(VOCAB, HIDDEN)
        assert r.at == len(r.data)

    def gelu(self, x):
        a = np.minimum(np.abs(x), 8 << 16)
        i, rest = a >> 8, a & 255
        t = self.gelu_table
        y = t[i] + shifted((t[np.minimum(i + 1, 2048)] - t[i]) * rest, 8)
        y = np.where(a == 8 << 16, np.abs(x), y)
        return np.where(x < 0, y - np.abs(x), y)

    def exponential(self, d):
        """2^-d in units of 2^-24, d in units of 2^-16."""
        whole, part = d >> 16, d & 0xFFFF
        e = (self.power[0][part >> 8] * self.power[1][part & 255]) >> 36
        return np.where(whole < 32, e >> np.minimum(whole, 32), 0)

    def attention(self, x):
        """x: queries, keys and values side by side."""
        t = len(x)
        q, k, v = (quantised(x[:, i * HIDDEN : (i + 1) * HIDDEN].reshape(t, HEADS, WIDTH), HEAD_LIMIT) for i in range(3))
        out = np.empty((t, HIDDEN), np.int64)
        for h in range(HEADS):
            sums = q[0][:, h] @ k[0][:, h].T
            score = shifted(sums * q[1][:, h, None] * shifted(k[1][:, h] * 67912, 16)[None, :], 32)
            e = self.exponential(score.max(axis=1, keepdims=True) - score)
            g = e * v[1][:, h][None, :]
            m = np.maximum(g.max(axis=1), 1)
            weight = shifted(g * ((127 << 48) // m)[:, None], 48)
            factor = (m << 17) // (127 * 127 * e.sum(axis=1))
            out[:, h * WIDTH : (h + 1) * WIDTH] = shifted((weight @ v[0][:, h]) * factor[:, None], 17)
        return out

    def forward(self, ids):
        """Yields the state after the embeddings and each layer, and then the final bytes."""
        x = shifted(self.words[ids].astype(np.int64) * self.word_scale[ids][:, None], self.word_exponent - 20)
        x = self.norm(x + self.place[: len(ids)])
        yield x
        for (joint, out, up, down), first, second, smooth, smoother in self.layers:
            a = self.attention(joint(*quantised(shifted(x * smooth, 12))))
            x = first(x + out(*quantised(a)))
            x = second(x + down(*quantised(self.gelu(up(*quantised(shifted(x * smoother, 12)))))))
            yield x
        total = [int(s) for s in x.sum(axis=0)]
        m = max(abs(s) for s in total)
        yield np.array([half_even(127 * s, m) for s in total], np.int8)


def half_even(a, b):
    q, r = divmod(abs(a), b)
    q += 2 * r > b or 2 * r == b and q % 2
    return q if a >= 0 else -q

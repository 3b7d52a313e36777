package main

import (
	"fmt"
	"unicode/utf8"
)

// textInput gives a text as it is, or as hex where it is not UTF-8.
func textInput(name, t string) obj {
	if !utf8.ValidString(t) {
		return obj{name + "Hex": hx(t)}
	}
	return obj{name: t}
}

func analysisCases(s *suite) {
	cases := []struct{ clause, name, title, text string }{
		{"6.1", "empty", "nothing", ""},
		{"6.1", "invalid-byte", "an invalid byte separates", "ab\xffcd"},
		{"6.1", "surrogate", "an encoded surrogate separates", "ab\xed\xa0\x80cd"},
		{"6.1", "truncated", "a truncated sequence at the end", "ab\xe2\x82"},
		{"6.1", "overlong", "an overlong slash", "ab\xc0\xafcd"},
		{"6.1", "replacement", "U+FFFD itself separates too", "ab\ufffdcd"},
		{"6.2", "case", "case is folded", "ÄRGER Σίσυφος ΣΊΣΥΦΟΣ"},
		{"6.2", "sharp-s", "full folding", "Straße STRASSE ẞ"},
		{"6.2", "ligature", "compatibility forms", "ﬁle Ｆｕｌｌ ① ² ⅷ"},
		{"6.2", "accents", "accents are dropped, composed or not", "café cafe\u0301 naïve"},
		{"6.2", "dotted-i", "the Turkish capital", "İstanbul ISTANBUL ıspanak"},
		{"6.2", "hangul", "Hangul syllables stay", "한국어 위키백과"},
		{"6.2", "greek", "accents of Greek, final sigma", "Ὀδυσσεύς ὀδυσσευσ"},
		{"6.2", "cyrillic", "Cyrillic", "Ёлка ёлка Йод йод"},
		{"6.2", "devanagari", "vowel signs stay", "हिन्दी भाषा"},
		{"6.2", "arabic", "Arabic", "مرحبا بالعالم"},
		{"6.2", "hebrew", "Hebrew with points", "שָׁלוֹם"},
		{"6.3", "soft-hyphen", "ignored code points are as if absent", "har\u00adbour ze\u200dro"},
		{"6.3", "ignored-between", "and do not come between a joiner and a word",
			"don\u00ad'\u200ct 1\u00ad.\u200d5"},
		{"6.3", "emoji", "symbols separate", "boat⛵harbour 🚤 x"},
		{"6.3", "fractions", "what folds to other things separates", "1½ ŉ ⑴"},
		{"6.3", "underscore", "hyphen and underscore separate", "snake_case kebab-case a/b"},
		{"6.4", "apostrophe", "apostrophes join", "O'Brien o’brien rock'n'roll oʼbrien"},
		{"6.4", "apostrophe-edges", "but not at the ends", "'quoted' dogs' 'tis ''"},
		{"6.4", "numbers", "points and commas in numbers", "1,000,000.50 3.14 1.2.3 v1.2"},
		{"6.4", "number-edges", "points and commas elsewhere", "1, 2. .5 ,5 1,,2 1..2 a.b a,b 1,a"},
		{"6.4", "other-digits", "digits of other scripts", "٣٫٤ ٣.٤ १२३"},
		{"6.5", "camel", "parts of a word", "HTTPServer camelCase XMLHttpRequest"},
		{"6.5", "digits", "digits have the case before them",
			"utf8Decode iPhone15Pro A1B2 x2Y B2b"},
		{"6.5", "upper", "all upper has no parts", "HTTP NASA"},
		{"6.5", "joiner", "joiners have no case", "rock'N'Roll fooBar's McDonald's"},
		{"6.5", "parts-accents", "parts are folded", "straßeNr ÄpfelBaum"},
		{"6.5", "long-256", "a word of 256 code points has parts", rep("a", 255) + "B"},
		{"6.5", "long-257", "one of 257 has none", rep("a", 256) + "B"},
		{"6.5", "title-case", "title case is upper", "aǅb"},
		{"6.6", "han", "neighbouring pairs", "東京都庁"},
		{"6.6", "han-one", "one alone", "京 a京b"},
		{"6.6", "kana", "Kana in their own runs, with voicing marks", "がぎぐ か\u3099き\u3099 ｶﾞｷﾞ カー"},
		{"6.6", "mixed", "a change of script ends a run", "東京タワーtower2号"},
		{"6.6", "thai", "Thai", "ภาษาไทย"},
		{"6.6", "lao-khmer", "Lao, Khmer, Myanmar", "ລາວ ខ្មែរ မြန်မာ"},
		{"6.6", "compatibility", "compatibility ideographs fold", "\u2f00\ufa0c豈"},
		{"6.6", "voicing-alone", "a voicing mark without a letter", "\u3099 \u3099\u3099か"},
		{"6.6", "squared", "a square folds to several or separates", "㌔ ㍿ ㌀"},
		{"6.7", "long", "tokens are cut to 64 code points", rep("abcdefg7", 10)},
		{"6.7", "long-folded", "cut after folding", rep("ß", 40) + "7"},
		{"6.8", "stop", "stop words",
			"The harbour is not in the list, but its boats aren’t either"},
		{"6.8", "stop-part", "parts that are stop words go too", "theBoat isA"},
		{"6.8", "stems", "stems", "running boats berths harbours universities generously adding"},
		{"6.8", "stems-special", "stems of their own", "skis dying news inning geologist"},
		{"6.8", "stems-not", "only a to z and the apostrophe are stemmed",
			"boats2 cafés naïvely überall"},
		{"6.8", "possessive", "a possessive", "keeper's keepers’ boat's"},
		{"6.8", "short", "short words", "x ab is it s t"},
		{"6.8", "identifiers", "identifiers", "getUserByID parse_json-v2 ERR_TIMEOUT 0xDEADBEEF"},
	}
	for _, c := range cases {
		for _, lang := range []string{"en", "none"} {
			if lang == "none" && c.clause != "6.8" && c.clause != "6.5" && c.clause != "6.7" {
				continue
			}
			in := textInput("text", c.text)
			in["language"] = lang
			terms := analyse(c.text, lang)
			if terms == nil {
				terms = []string{}
			}
			s.add(c.clause, "analysis", c.name+"-"+lang, c.title, in, obj{"terms": terms})
		}
	}
	everyClass(s)
	escapes(s)
}

// everyClass runs over the code points of the basic plane, a text for each block of 4,096.
func everyClass(s *suite) {
	for first := rune(0); first < 0x10000; first += 0x1000 {
		var text []rune
		for r := first; r < first+0x1000; r++ {
			if r < 0xd800 || r > 0xdfff {
				text = append(text, r)
				if r%3 == 0 {
					text = append(text, ' ')
				}
			}
		}
		terms := analyse(string(text), "en")
		all := ""
		for _, t := range terms {
			all += t + "\n"
		}
		s.add("6.3", "analysis", fmt.Sprintf("plane-%04x", first),
			fmt.Sprintf("code points U+%04X to U+%04X, a space after each third", first,
				first+0xfff),
			obj{"first": first, "last": first + 0xfff, "language": "en"},
			obj{"count": len(terms), "sha256": hx(cidOf(codecRaw, []byte(all))[4:])})
	}
}

func escapes(s *suite) {
	cases := []struct{ name, title, text string }{
		{"plain", "text stays, the backslash included", `C:\temp\n "quoted" é 😀`},
		{"lines", "line ends and tab", "a\nb\r\nc\td"},
		{"controls", "controls", "\x00\x1b[31m\x7f\u0085\u009f"},
		{"separators", "line and paragraph separator", "a\u2028b\u2029c"},
		{"bidi", "bidirectional controls", "\u202eevil\u202c \u2066x\u2069 \u200e\u061c"},
		{"invisible", "invisible code points", "a\u00ad\u034f\u180e\u200b\u2060\ufeffb"},
		{"joiners", "zero-width joiner and non-joiner stay", "a\u200cb\u200dc"},
		{"fillers", "Hangul fillers and Khmer vowels", "\u115f\u1160\u3164\uffa0\u17b4\u17b5"},
		{"variation", "variation selectors 15 and 16 stay", "❤\ufe0e❤\ufe0f\ufe00\ufe0d"},
		{"tags", "tags and the planes' last", "\U000e0041\U000e0fff\U0001ffff\U0010fffe\ufdd0"},
		{"music", "format controls of notation", "\U0001bca0\U0001d173\ufff9"},
		{"invalid", "bytes that are no UTF-8", "a\xff\xc3\xed\xa0\x80z"},
		{"neighbours", "the code points beside the ranges stay",
			"\u00a0\u00ae\u061b\u061d\u200a\u2010\u202f\u2065\u2070\ufe0e\uffef\ufffc\ufffd"},
	}
	for _, c := range cases {
		s.add("6.9", "analysis", "escape-"+c.name, c.title, textInput("escape", c.text),
			obj{"line": escapeLine(c.text)})
	}
}

func logCases(s *suite) {
	xs := []uint64{1, 2, 3, 4, 5, 7, 10, 26, 100, 1000, 65535, 65536, 65537, 1 << 31, 1<<31 + 1,
		1<<32 - 1, 1 << 32, 1<<32 + 1, 1<<62 + 12345, 1<<63 - 1}
	r := rng(99)
	for i := range 40 {
		xs = append(xs, r.next()>>(1+i)|1)
	}
	pairs := []any{}
	for _, x := range xs {
		pairs = append(pairs, []any{fmt.Sprint(x), logQ16(x)})
	}
	s.add("9.1", "score", "logarithm", "L(x) for small, large and pseudo-random x",
		obj{"logarithms": len(pairs)}, obj{"pairs": pairs})
}

package main

// counted are texts and the tokens that cl100k_base and o200k_base make of them, by js-tiktoken
// 1.0.21 (all special tokens taken for ordinary text): another implementation of both.
var counted = []struct {
	text          string
	cl100k, o200k int
}{
	{"", 0, 0},
	{"a", 1, 1},
	{"hello world", 2, 2},
	{"Hello, World!", 4, 4},
	{"tiktoken is great!", 6, 6},
	{"antidisestablishmentarianism", 6, 6},
	{"2 + 2 = 4", 7, 7},
	{"1234567890", 4, 4},
	{"お誕生日おめでとう", 9, 8},
	{"東京港の船は潮を待つ。", 16, 10},
	{"안녕하세요 세계", 9, 3},
	{"Привет, мир", 6, 4},
	{"مرحبا بالعالم", 10, 4},
	{"สวัสดีชาวโลก", 13, 7},
	{"अनुच्छेद", 10, 4},
	{"e\u0301te\u0301 \u0301", 6, 6},
	{"🚤👩\u200d🚀 off we go", 14, 10},
	{"<|endoftext|>", 7, 7},
	{"It's we'll THEY'RE 'S 'ſ don’t", 13, 11},
	{"HTTPServer utf8Decode iPhone15Pro", 8, 9},
	{"\n \n", 1, 1},
	{"\n\t\n", 1, 1},
	{"a \n \n b", 3, 3},
	{"x\n\n  y", 4, 4},
	{"tabs\t\t\tand   spaces ", 6, 6},
	{"\r\n\r\n", 1, 1},
	{"   ", 1, 1},
	{"func main() {\n\tfmt.Println(\"hi\")\n}\n", 10, 10},
	{"http://example.com/a/b?c=d&e=%20", 12, 12},
	{"//\n//\n", 2, 2},
	{"½²٣ 12²³", 8, 7},
	{"\u00a0\u3000 x", 3, 3},
	{"ntype: Note\nid: 018f2b6c-0000-7000-8000-000000000001\n" +
		"summary: the harbour master\n", 35, 35},
	{"ǅungla ʰa", 8, 8},
	{"!!!???...", 3, 3},
	{rep("a", 100), 13, 13},
	{rep("A", 100), 13, 13},
	{"                                                                                                    x", 3, 3},
	{rep("1", 100), 34, 34},
	{rep("ab ", 50), 51, 51},
	{rep("\n", 50), 3, 4},
	{rep(" \n", 50), 25, 25},
	{"\u200b_\u2028_", 5, 4},
}

func tokenCases(s *suite) {
	for i, c := range counted {
		s.add("11.7", "tokens", "count-"+itoa(i), "tokens of a text", obj{"text": c.text},
			obj{"cl100k": c.cl100k, "o200k": c.o200k, "estimate": tokensOf(c.text)})
	}
}

package embed

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

func readTokenizer(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/bert/tokenizer.json")
	must.OK(t, err)
	return data
}

func idsOf(t *tokenizer, s string) []int32 {
	ids := []int32{}
	t.tokens(s, func(id int32) { ids = append(ids, id) })
	return ids
}

// TestWordPieceGolden compares with what the reference implementation made of the texts.
func TestWordPieceGolden(t *testing.T) {
	base := readTokenizer(t)
	var whole struct{ Normalizer json.RawMessage }
	must.OK(t, json.Unmarshal(base, &whole))
	data, err := os.ReadFile("testdata/bert/cases.jsonl")
	must.OK(t, err)
	cases, way := 0, ""
	var tok *tokenizer
	for line := range bytes.Lines(data) {
		var c struct {
			Normalizer json.RawMessage
			Text       string
			IDs        []int32
		}
		must.OK(t, json.Unmarshal(line, &c))
		if way != string(c.Normalizer) {
			way = string(c.Normalizer)
			tok, err = parseTokenizer(bytes.Replace(base, whole.Normalizer, c.Normalizer, 1))
			must.OK(t, err)
		}
		if got := idsOf(tok, c.Text); !slices.Equal(got, c.IDs) {
			t.Errorf("%s\n%q\n got %v\nwant %v", way, c.Text, got, c.IDs)
		}
		cases++
	}
	if cases < 300 {
		t.Errorf("only %d cases", cases)
	}
}

// small is a tokenizer.json with its parts to fill in.
func small(model, norm, pre, added string) string {
	return fmt.Sprintf(`{"model":%s,"normalizer":%s,"pre_tokenizer":%s,"added_tokens":%s}`,
		model, norm, pre, added)
}

const (
	okModel = `{"type":"WordPiece","vocab":{"[UNK]":0,"a":1,"b":2,"##b":3}}`
	okNorm  = `{"type":"BertNormalizer"}`
	okPre   = `{"type":"BertPreTokenizer"}`
)

func TestTokenizerRefuses(t *testing.T) {
	_, err := parseTokenizer([]byte(small(okModel, okNorm, okPre, "[]")))
	must.OK(t, err)
	wordPiece := func(rest string) string { return `{"type":"WordPiece",` + rest + `}` }
	vocab := func(rest string) string {
		return small(wordPiece(rest+`,"vocab":{"a":1}`), okNorm, okPre, "[]")
	}
	added := `[{"content":"new word","special":false}]`
	sequence := `{"type":"Sequence","normalizers":[]}`
	cases := []struct{ json, want string }{
		{"", "truncated JSON"},
		{"[]", "not a JSON object"},
		{`{"model":{"type":"WordPiece"`, "truncated JSON"},
		{small(okModel, okNorm, okPre, "[]") + "x", "more after"},
		{`{"a":1,"a":2}`, `"a" is there twice`},
		{"{\"\xff\":1}", "not UTF-8"},
		{`{"version":"1.0"}`, "not a tokenizer.json"},
		{small(`{"type":"Unigram","vocab":[["a",-1.5]]}`, okNorm, okPre, "[]"), "supported are"},
		{small(`{"type":"BPE","vocab":{},"merges":[]}`, okNorm, okPre, "[]"), `"BPE" is not supported`},
		{small(`{"vocab":{"a":1}}`, okNorm, okPre, "[]"), `"" is not supported`},
		{small(wordPiece(`"x":1`), okNorm, okPre, "[]"), "no vocab"},
		{small(wordPiece(`"vocab":{}`), okNorm, okPre, "[]"), "empty"},
		{small(wordPiece(`"vocab":[]`), okNorm, okPre, "[]"), "not a JSON object"},
		{small(wordPiece(`"vocab":{"a":1,"a":2}`), okNorm, okPre, "[]"), "there twice"},
		{small(wordPiece(`"vocab":{"a":1,"b":1}`), okNorm, okPre, "[]"), `number 1 belongs to "a"`},
		{small(wordPiece(`"vocab":{"a":-1}`), okNorm, okPre, "[]"), "outside 0 to"},
		{small(wordPiece(`"vocab":{"a":4194304}`), okNorm, okPre, "[]"), "outside 0 to"},
		{small(wordPiece(`"vocab":{"a":1e99}`), okNorm, okPre, "[]"), "no number of a token"},
		{small(wordPiece(`"vocab":{"a":null}`), okNorm, okPre, "[]"), "no number of a token"},
		{small(wordPiece(`"vocab":{"a":{"a":1}}`), okNorm, okPre, "[]"), "no number of a token"},
		{vocab(`"continuing_subword_prefix":""`), "is empty"},
		{vocab(`"max_input_chars_per_word":0`), "want 1 to 1000"},
		{vocab(`"max_input_chars_per_word":1001`), "want 1 to 1000"},
		{small(okModel, `{"type":"NFKC"}`, okPre, "[]"), `normalizer: "NFKC" is not supported`},
		{small(okModel, sequence, okPre, "[]"), `"Sequence" is not supported`},
		{small(okModel, `{"type":"BertNormalizer","clean_tex":true}`, okPre, "[]"), "not a setting"},
		{small(okModel, `{"type":"BertNormalizer","lowercase":"yes"}`, okPre, "[]"), "cannot unmarshal"},
		{small(okModel, `{"lowercase":true}`, okPre, "[]"), "no type"},
		{small(okModel, okNorm, `{"type":"Metaspace"}`, "[]"), `pre_tokenizer: "Metaspace" is not`},
		{small(okModel, okNorm, `null`, "[]"), `"null" is not supported`},
		{small(okModel, okNorm, okPre, added), `"new word" is not special`},
		{small(okModel, okNorm, okPre, `{}`), "added_tokens"},
	}
	for _, c := range cases {
		_, err := parseTokenizer([]byte(c.json))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.100s: error %v, want %q", c.json, err, c.want)
		}
	}
}

// TestTokenizerDefaults checks what holds where a setting is left out.
func TestTokenizerDefaults(t *testing.T) {
	for _, norm := range []string{okNorm, `{"type":"BertNormalizer","strip_accents":null}`} {
		special := `[{"content":"[X]","special":true}]`
		tok, err := parseTokenizer([]byte(small(okModel, norm, okPre, special)))
		must.OK(t, err)
		if got := idsOf(tok, "AB áb c a\u4e00b ab"); !slices.Equal(got, []int32{1, 3, 1, 3, 1, 2, 1, 3}) {
			t.Errorf("%s: %v", norm, got)
		}
	}
	tok, err := parseTokenizer([]byte(small(okModel, "null", okPre, "null")))
	must.OK(t, err)
	if got := idsOf(tok, "AB ab"); !slices.Equal(got, []int32{1, 3}) {
		t.Errorf("no normaliser: %v", got)
	}
}

// TestWordPieceWork bounds the look-ups of a text made to take many.
func TestWordPieceWork(t *testing.T) {
	tok, err := parseTokenizer(readTokenizer(t))
	must.OK(t, err)
	n := 0
	tok.tokens(strings.Repeat(strings.Repeat("x", 99)+" ", MaxText/100), func(int32) { n++ })
	if want := MaxText / 100 * 33; n != want {
		t.Errorf("%d tokens, want %d", n, want)
	}
	if tok.longest > 12 {
		t.Errorf("the longest token has %d bytes", tok.longest)
	}
}

func FuzzTokenizer(f *testing.F) {
	f.Add(readTokenizer(f), "Hello, Wörld 東京")
	f.Add([]byte(small(okModel, okNorm, okPre, "[]")), "ab AB")
	f.Add([]byte(small(okModel, "null", okPre, "null")), "ab AB\xff")
	f.Fuzz(func(t *testing.T, data []byte, s string) {
		tok, err := parseTokenizer(data)
		if err != nil {
			return
		}
		n := 0
		tok.tokens(s, func(id int32) {
			if id < 0 || id > tok.top || id == tok.unknown {
				t.Fatalf("token %d of %d", id, tok.top)
			}
			n++
		})
		// A code point is at most four letters without its accents, and a letter one token.
		if n > 4*len(s) {
			t.Fatalf("%d tokens of %d bytes", n, len(s))
		}
	})
}

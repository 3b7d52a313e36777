package embed

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/cases"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

func readTokenizer(t testing.TB) []byte {
	t.Helper()
	return must.Get(os.ReadFile("testdata/bert/tokenizer.json"))(t)
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
	data := must.Get(os.ReadFile("testdata/bert/cases.jsonl"))(t)
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
			tok = must.Get(parseTokenizer(bytes.Replace(base, whole.Normalizer, c.Normalizer, 1)))(t)
		}
		must.Same(t, idsOf(tok, c.Text), c.IDs, way, "\n", c.Text, "\n")
		cases++
	}
	must.True(t, cases >= 300, "only %d cases", cases)
}

// small is a tokenizer.json with its parts to fill in.
func small(model, norm, pre, added string) string {
	return fmt.Sprintf(`{"model":%s,"normalizer":%s,"pre_tokenizer":%s,"added_tokens":%s}`, model, norm, pre, added)
}

const (
	okModel = `{"type":"WordPiece","vocab":{"[UNK]":0,"a":1,"b":2,"##b":3}}`
	okNorm  = `{"type":"BertNormalizer"}`
	okPre   = `{"type":"BertPreTokenizer"}`
)

// TestTokenizerRefuses freezes why tokenizers are refused.
func TestTokenizerRefuses(t *testing.T) {
	must.Get(parseTokenizer([]byte(small(okModel, okNorm, okPre, "[]"))))(t)
	cases.Golden(t, filepath.Join("testdata", "tokenizer-refused.jsonl"), func(t testing.TB, c cases.Case) any {
		var file string
		cases.Parse(t, c.Input, &file)
		_, err := parseTokenizer(cases.Bytes(t, file))
		return fmt.Sprint(err)
	})
}

// TestTokenizerDefaults checks what holds where a setting is left out.
func TestTokenizerDefaults(t *testing.T) {
	for _, norm := range []string{okNorm, `{"type":"BertNormalizer","strip_accents":null}`} {
		special := `[{"content":"[X]","special":true}]`
		tok := must.Get(parseTokenizer([]byte(small(okModel, norm, okPre, special))))(t)
		must.Same(t, idsOf(tok, "AB áb c a\u4e00b ab"), []int32{1, 3, 1, 3, 1, 2, 1, 3}, norm)
	}
	tok := must.Get(parseTokenizer([]byte(small(okModel, "null", okPre, "null"))))(t)
	must.Same(t, idsOf(tok, "AB ab"), []int32{1, 3}, "no normaliser")
}

// TestWordPieceWork bounds the look-ups of a text made to take many.
func TestWordPieceWork(t *testing.T) {
	tok := must.Get(parseTokenizer(readTokenizer(t)))(t)
	n := 0
	tok.tokens(strings.Repeat(strings.Repeat("x", 99)+" ", MaxText/100), func(int32) { n++ })
	if want := MaxText / 100 * 33; n != want {
		t.Errorf("%d tokens, want %d", n, want)
	}
	must.True(t, tok.longest <= 12, "the longest token has %d bytes", tok.longest)
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
			must.Require(t, id >= 0 && id <= tok.top && id != tok.unknown, "token %d of %d", id, tok.top)
			n++
		})
		// A code point is at most four letters without its accents, and a letter one token.
		must.Require(t, n <= 4*len(s), "%d tokens of %d bytes", n, len(s))
	})
}

func mustHash(t testing.TB, language string) Embedder {
	t.Helper()
	return must.Get(NewHash(language, nil))(t)
}

// failsWith reports whether err is an error with these words.
func failsWith(err error, words string) bool {
	return err != nil && strings.Contains(err.Error(), words)
}

func embedOne(t testing.TB, e Embedder, s string) []int8 {
	t.Helper()
	vs, err := e.Embed(context.Background(), []string{s}, Document)
	must.Require(t, err == nil && len(vs) == 1, "Embed(%.40q) = %d vectors, %v", s, len(vs), err)
	return vs[0]
}

func signedBytes(v []int8) []byte {
	out := make([]byte, len(v))
	for i, x := range v {
		out[i] = byte(x)
	}
	return out
}

// TestHashGolden compares with vectors of a generator that shares no code with the package.
func TestHashGolden(t *testing.T) {
	data := must.Get(os.ReadFile("testdata/hash.jsonl"))(t)
	cases, empty := 0, 0
	for line := range bytes.Lines(data) {
		var c struct{ Model, Text, Vector string }
		must.OK(t, json.Unmarshal(line, &c))
		e := mustHash(t, strings.TrimPrefix(c.Model, "hash-1:"))
		must.Equal(t, e.Model(), c.Model, "model")
		got := embedOne(t, e, c.Text)
		must.Equal(t, hex.EncodeToString(signedBytes(got)), c.Vector, c.Model, " of ", c.Text, "\n")
		cases++
		if len(got) == 0 {
			empty++
		} else if len(got) != e.Dim() {
			t.Errorf("%.60q: %d dimensions, want %d", c.Text, len(got), e.Dim())
		}
	}
	must.True(t, cases >= 50 && empty >= 5, "%d cases with %d empty ones: too few", cases, empty)
}

// TestHashWorstText bounds what the longest texts can do: sums stay exact as floats.
func TestHashWorstText(t *testing.T) {
	e := mustHash(t, "none")
	for _, s := range []string{
		strings.Repeat("a ", MaxText/2), strings.Repeat("x", MaxText), strings.Repeat("界", MaxText/3),
	} {
		must.Equal(t, len(embedOne(t, e, s)), HashDim, s)
	}
}

func TestProgressLocal(t *testing.T) {
	var seen [][2]int
	e := must.Get(NewHash("en", func(done, total int) { seen = append(seen, [2]int{done, total}) }))(t)
	must.Get(e.Embed(context.Background(), make([]string, 2*localBatch+1), Document))(t)
	want := [][2]int{{64, 129}, {128, 129}, {129, 129}}
	must.Same(t, seen, want, "progress")
}

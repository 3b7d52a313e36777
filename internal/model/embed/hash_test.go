package embed

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

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
	must.Check(t, cases >= 50 && empty >= 5, "%d cases with %d empty ones: too few", cases, empty)
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

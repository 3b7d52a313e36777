package embed

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

func mustHash(t testing.TB, language string) Embedder {
	t.Helper()
	e, err := NewHash(language, nil)
	must.OK(t, err)
	return e
}

// failsWith reports whether err is an error with these words.
func failsWith(err error, words string) bool {
	return err != nil && strings.Contains(err.Error(), words)
}

func embedOne(t testing.TB, e Embedder, s string) []int8 {
	t.Helper()
	vs, err := e.Embed(context.Background(), []string{s}, Document)
	if err != nil || len(vs) != 1 {
		t.Fatalf("Embed(%.40q) = %d vectors, %v", s, len(vs), err)
	}
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
	data, err := os.ReadFile("testdata/hash.jsonl")
	must.OK(t, err)
	cases, empty := 0, 0
	for line := range bytes.Lines(data) {
		var c struct{ Model, Text, Vector string }
		must.OK(t, json.Unmarshal(line, &c))
		e := mustHash(t, strings.TrimPrefix(c.Model, "hash-1:"))
		must.Equal(t, e.Model(), c.Model, "model")
		got := embedOne(t, e, c.Text)
		if s := hex.EncodeToString(signedBytes(got)); s != c.Vector {
			t.Errorf("%s of %.60q\n got %.80s\nwant %.80s", c.Model, c.Text, s, c.Vector)
		}
		cases++
		if len(got) == 0 {
			empty++
		} else if len(got) != e.Dim() {
			t.Errorf("%.60q: %d dimensions, want %d", c.Text, len(got), e.Dim())
		}
	}
	if cases < 50 || empty < 5 {
		t.Errorf("%d cases with %d empty ones: too few", cases, empty)
	}
}

// TestHashWorstText bounds what the longest texts can do: sums stay exact as floats.
func TestHashWorstText(t *testing.T) {
	e := mustHash(t, "none")
	for _, s := range []string{
		strings.Repeat("a ", MaxText/2), strings.Repeat("x", MaxText), strings.Repeat("界", MaxText/3),
	} {
		if v := embedOne(t, e, s); len(v) != HashDim {
			t.Errorf("%.4q: %d dimensions", s, len(v))
		}
	}
}

func TestProgressLocal(t *testing.T) {
	var seen [][2]int
	e, err := NewHash("en", func(done, total int) { seen = append(seen, [2]int{done, total}) })
	must.OK(t, err)
	_, err = e.Embed(context.Background(), make([]string, 2*localBatch+1), Document)
	must.OK(t, err)
	want := [][2]int{{64, 129}, {128, 129}, {129, 129}}
	if !slices.Equal(seen, want) {
		t.Errorf("progress %v, want %v", seen, want)
	}
}

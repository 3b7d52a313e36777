package minilm

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/model/minilm/dot"
	"github.com/mnem-project/mnem/internal/model/minilm/weights"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// open opens the model, without which a program can be built.
func open(t testing.TB) *Model {
	t.Helper()
	m, err := Open(weights.File)
	if err == ErrNoFile {
		t.Skip(err)
	}
	must.OK(t, err)
	return m
}

// lines decodes a file of testdata, which has at least so many cases.
func lines[Case any](t testing.TB, name string, least int) []Case {
	t.Helper()
	data := must.Get(os.ReadFile("testdata/" + name))(t)
	var out []Case
	for line := range bytes.Lines(data) {
		var c Case
		must.OK(t, json.Unmarshal(line, &c))
		out = append(out, c)
	}
	must.Require(t, len(out) >= least, "%s has only %d cases", name, len(out))
	return out
}

// TestGoldenPieces compares with the pieces that the package tokenizers makes of texts.
func TestGoldenPieces(t *testing.T) {
	m := open(t)
	for _, c := range lines[struct {
		Text string
		IDs  []int32
	}](t, "pieces.jsonl", 1000) {
		got, counts := m.parameters.vocabulary.tokenize(nil, c.Text)
		want := c.IDs[:min(len(c.IDs), MaxPieces-2)]
		must.True(t, got[0] == beginID && got[len(got)-1] == endID && slices.Equal(got[1:len(got)-1], want),
			"%q\n got %v\nwant %v", c.Text, got, want)
		if cut := len(c.IDs) > MaxPieces-2; counts.Pieces != len(want) || counts.Cut != cut {
			t.Errorf("%q: %+v, want %d pieces, cut %v", c.Text, counts, len(want), cut)
		}
	}
}

type vectorCase struct {
	Text   string
	Layers []string
	Vector string
}

// vectorCases returns the cases of vectors; of a kernel that takes fifty times as long, some that are short.
func vectorCases(t testing.TB) []vectorCase {
	all := lines[vectorCase](t, "vectors.jsonl", 80)
	if dot.Kernel() != "portable" {
		return all
	}
	var some []vectorCase
	longest := effort.Pick(100, 400, 1<<20)
	for _, c := range all {
		if len(c.Text) <= longest {
			some = append(some, c)
		}
	}
	some = some[:min(len(some), effort.Pick(12, 40, len(some)))]
	must.Require(t, len(some) >= 12, "only %d cases", len(some))
	return some
}

func hexOf(v []int8) string {
	b := make([]byte, len(v))
	for i, x := range v {
		b[i] = byte(x)
	}
	return hex.EncodeToString(b)
}

// TestGoldenVectors compares the state after each layer and the vector with the output of make/reference.py.
func TestGoldenVectors(t *testing.T) {
	m := open(t)
	t.Logf("kernel %s", dot.Kernel())
	for _, c := range vectorCases(t) {
		ids, _ := m.parameters.vocabulary.tokenize(nil, c.Text)
		var sums []string
		s := new(scratch)
		m.parameters.run(s, ids, []int{len(ids)}, func(state []int32) {
			h := sha256.New()
			must.OK(t, binary.Write(h, binary.LittleEndian, state))
			sums = append(sums, hex.EncodeToString(h.Sum(nil))[:16])
		})
		must.Same(t, sums, c.Layers, c.Text, ": layers\n")
		must.Equal(t, hexOf(pool(s.state[:len(ids)*hidden])), c.Vector, c.Text, ": vector\n")
	}
}

// TestGoldenTogether embeds all texts in one call, in two orders, on one to eight processors: each text has the same
// vector as alone.
func TestGoldenTogether(t *testing.T) {
	m := open(t)
	cases := vectorCases(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, processors := range []int{1, 2, 8} {
		runtime.GOMAXPROCS(processors)
		slices.Reverse(cases)
		var texts []string
		for _, c := range cases {
			texts = append(texts, c.Text)
		}
		vectors, err := m.Vectors(t.Context(), texts, nil)
		must.Require(t, err == nil && len(vectors) == len(texts), "%v %v", len(vectors), err)
		for i, c := range cases {
			must.True(t, hexOf(vectors[i]) == c.Vector,
				"on %d processors %.60q has another vector", processors, c.Text)
		}
	}
}

// TestGoldenKernels runs tests of this file once more by the other kernels.
func TestGoldenKernels(t *testing.T) {
	if dot.Kernel() == "portable" || os.Getenv("MNEM_NOSIMD") != "" {
		return // there are no others, or this is one
	}
	for without, want := range map[string][]string{"1": {"portable"}, "vnni": {"avx2", "portable"}} {
		t.Run(want[0], func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestGolden(Vectors|Together)$", "-test.v")
			cmd.Env = append(os.Environ(), "MNEM_NOSIMD="+without)
			out, err := cmd.CombinedOutput()
			passed := strings.Count(string(out), "--- PASS")
			must.True(t, err == nil && passed == 2 && slices.ContainsFunc(want, func(k string) bool {
				return strings.Contains(string(out), "kernel "+k)
			}), "%v, %d passed:\n%s", err, passed, out)
		})
	}
}

// TestVectorsEnd ends the context of a call, before it and between two of its groups.
func TestVectorsEnd(t *testing.T) {
	m := open(t)
	texts := slices.Repeat([]string{"a short text"}, 3*group)
	enough := errors.New("enough")
	for _, at := range []int{0, group, 2 * group} {
		ctx, cancel := context.WithCancelCause(t.Context())
		if at == 0 {
			cancel(enough)
		}
		vectors, err := m.Vectors(ctx, texts, func(done int) {
			if done == at {
				cancel(enough)
			}
		})
		must.True(t, vectors == nil && errors.Is(err, enough),
			"ended after %d: %d vectors, %v", at, len(vectors), err)
	}
}

// TestName holds the name to the file, and the file to what kernels take.
func TestName(t *testing.T) {
	m := open(t)
	sum := sha256.Sum256([]byte(weights.File))
	must.Equal(t, ("minilm-l6-" + hex.EncodeToString(sum[:4])), Name, "the model is called")
	for i := range m.parameters.layers {
		l := &m.parameters.layers[i]
		for _, matrix := range []*linear{&l.joint, &l.out, &l.up, &l.down} {
			if slices.Min(matrix.weights) < -levels {
				t.Errorf("layer %d has a weight of %d", i, slices.Min(matrix.weights))
			}
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	_, err := Open("")
	must.Fail(t, err, ErrNoFile)
	open(t)
	file := weights.File
	vocabulary := strings.Index(file, "[unused0]") // in the text of the vocabulary
	for name, c := range map[string]struct{ file, want string }{
		"short":         {"mnem", "truncated"},
		"other magic":   {"x" + file[1:], "another kind"},
		"other version": {strings.Replace(file[:64], "minilm 1", "minilm 2", 1) + file[64:], "another kind"},
		"header alone":  {file[:64], "truncated"},
		"cut tables":    {file[:100_000], "truncated"},
		"cut words":     {file[:vocabulary], "truncated"},
		"cut matrices":  {file[:len(file)-1], "truncated"},
		"longer":        {file + strings.Repeat("\x00", 64), "64 bytes too many"},
	} {
		if _, err := Open(c.file); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

func TestOpenRefusesExponents(t *testing.T) {
	open(t)
	at := 64 + 2*1024 + 8256 + 4*MaxPieces*hidden + 2*1536 // that of the embeddings
	for _, low := range []string{"\x00", "\x17", "\x2f", "\xff"} {
		file := weights.File[:at] + low + weights.File[at+1:]
		_, err := Open(file)
		must.True(t, err != nil && strings.Contains(err.Error(), "want 24 to 46"), "exponent %q: %v", low, err)
	}
}

func TestCounts(t *testing.T) {
	m := open(t)
	for text, want := range map[string]TokenCounts{
		"":                            {},
		"The cat sat.":                {Pieces: 4, Whole: 3, Words: 3, Marks: 1},
		"Rechtsanwaltsgehilfin":       {Pieces: 8, Words: 1},
		"☃ snow":                      {Pieces: 2, Whole: 1, Words: 2, Unknown: 1},
		strings.Repeat("one ", 126):   {Pieces: 126, Whole: 126, Words: 126},
		strings.Repeat("one ", 127):   {Pieces: 126, Whole: 126, Words: 126, Cut: true},
		strings.Repeat("a", 101):      {Pieces: 1, Words: 1, Unknown: 1},
		strings.Repeat("one ", 1<<18): {Pieces: 126, Whole: 126, Words: 126, Cut: true},
	} {
		must.Equal(t, m.Count(text), want, text)
	}
}

// FuzzPieces looks at what tokenizing promises of any text.
func FuzzPieces(f *testing.F) {
	m := open(f)
	f.Add("The cat sat, naïvely: 日本 ##ing [SEP]")
	f.Add(strings.Repeat("unaffable ", 100) + "\xff")
	f.Fuzz(func(t *testing.T, text string) {
		ids, c := m.parameters.vocabulary.tokenize(nil, text)
		if len(ids) > MaxPieces || c.Pieces != len(ids)-2 || c.Whole+c.Unknown > c.Words || c.Words+c.Marks > c.Pieces {
			t.Errorf("%q: %d pieces, %+v", text, len(ids), c)
		}
		for _, id := range ids {
			must.True(t, id >= unknownID && id < words, "%q: piece %d", text, id)
		}
		if again, _ := m.parameters.vocabulary.tokenize([]int32{7}, text); len(again) != len(ids)+1 || again[0] != 7 {
			t.Errorf("%q after another: %d pieces", text, len(again))
		}
	})
}

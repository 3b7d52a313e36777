package minilm

import (
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/model/minilm/weights"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

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
		must.Check(t, err != nil && strings.Contains(err.Error(), "want 24 to 46"), "exponent %q: %v", low, err)
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
			must.Check(t, id >= unknownID && id < words, "%q: piece %d", text, id)
		}
		if again, _ := m.parameters.vocabulary.tokenize([]int32{7}, text); len(again) != len(ids)+1 || again[0] != 7 {
			t.Errorf("%q after another: %d pieces", text, len(again))
		}
	})
}

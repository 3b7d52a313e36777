package remembering

import (
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/verbkit"
)

// TestRememberReadsBeforeItOpens: texts, lines and vectors are there before the repository is opened, and
// what is wrong with them keeps it closed.
func TestRememberReadsBeforeItOpens(t *testing.T) {
	h := verbkit.NewHost(t)
	h.Files = map[string]string{
		"a": "\xef\xbb\xbfThe harbour has nine berths", "v": "[0.5,1]", "-": "Piped in",
		"lines": `{"text":"Two of them are dry","tags":["t"]}` + "\n\n" + `{"text":"Two of them are dry."}`,
		"bad":   `{"text":"x"}` + "\n" + `{"text":"x","foo":1}`, "long": strings.Repeat("x", graph.MaxText+1),
	}
	for _, tt := range []struct {
		values  map[string]string
		want    string // of each memory, what became of it
		refused string
	}{
		{map[string]string{"file": "a", "vector": "m=@v"}, "added", ""},
		{map[string]string{"text": "-"}, "added", ""},
		{map[string]string{"batch": "lines", "embed": "hash"}, "added duplicate", ""},
		{map[string]string{"text": "Two of them are dry"}, "duplicate", ""},
		{map[string]string{"batch": "bad"}, "", "bad:2: foo: no such member"},
		{map[string]string{"file": "long"}, "", "more than 8000 characters"},
		{map[string]string{"file": "none"}, "", "no file none"},
		{map[string]string{}, "", "want a TEXT"},
		{map[string]string{"text": "x", "batch": "lines"}, "", "want a TEXT"},
		{map[string]string{"text": "x", "set": "keep=true"}, "", "in a command of its own"},
		{map[string]string{"text": "x", "importance": "0"}, "", "0, want 1 to 5"},
		{map[string]string{"text": "x", "vector": "m=@v", "embed": "hash"}, "", "exclude each other"},
	} {
		h.Opened = nil
		got, err := verbkit.Asks(t, h, &Remember.Spec, tt.values)
		var became []string
		for _, res := range got {
			became = append(became, string(res.(*Remembered).Action))
		}
		if strings.Join(became, " ") != tt.want || (err == nil) != (tt.refused == "") ||
			err != nil && !strings.Contains(err.Error(), tt.refused) {
			t.Errorf("%v: %v, %v", tt.values, became, err)
		}
		if tt.refused != "" && len(h.Opened) > 0 {
			t.Errorf("%v: the repository was opened", tt.values)
		}
	}
}

package show

import (
	"bufio"
	"bytes"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// TestFields prints an answer with values of each kind.
func TestFields(t *testing.T) {
	type item struct {
		Name string   `json:"name"`
		At   ipld.CID `json:"at" shape:"null"`
		N    int      `json:"n"`
		None string   `json:"none,omitempty"`
	}
	answer := struct {
		Commit   ipld.CID       `json:"commit"`
		Gone     ipld.CID       `json:"gone" shape:"null"`
		NoChange bool           `json:"no_change"`
		DryRun   bool           `json:"dry_run"`
		Words    []string       `json:"words"`
		By       map[string]int `json:"by"`
		Items    []item         `json:"items"`
		Left     []item         `json:"left"`
		Secret   string         `json:"_text"`
	}{
		Commit: ipld.Sum(ipld.DagCBOR, nil), NoChange: true, Words: []string{"a\x1b[31m", "b"}, By: map[string]int{"fooBar\n": 2},
		Items: []item{{Name: "x", N: 1}, {Name: "long\nname", At: ipld.Sum(ipld.DagCBOR, []byte("x"))}}, Secret: "hidden",
	}
	for name, tt := range map[string]struct {
		answer any
		want   string
	}{
		"one": {&answer, `commit       ` + answer.Commit.String() + `
no_change    yes
words        a\u{1B}[31m, b
by fooBar\n  2
items
  name        at            n
  x                         1
  long\nname  ` + ShortCID(answer.Items[1].At) + `  0
`},
		"none": {&struct{}{}, ""},
	} {
		var b bytes.Buffer
		c := &Console{Out: bufio.NewWriter(&b)}
		must.OK(t, Fields(c, tt.answer))
		must.OK(t, c.Out.Flush())
		must.True(t, b.String() == tt.want, "%s:\n%swant\n%s", name, &b, tt.want)
	}
	if row := FieldRow(nil, answer.Items[1]); len(row) != 3 || row[2].Text != "0" {
		t.Errorf("%q", row)
	}
}

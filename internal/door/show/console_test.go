package show

import (
	"bufio"
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mnem-project/mnem/internal/base/plain"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

func TestTableAligns(t *testing.T) {
	var out strings.Builder
	c := &Console{Out: bufio.NewWriter(&out), Terminal: true}
	err := c.Table([][]Cell{
		{{"a", Bold}, {"bb", ""}, {"c", ""}},
		{{"äöü", ""}, {"", ""}, {"d", Red}},
		{{"last", ""}, {"x", ""}},
	})
	if err == nil {
		err = c.Out.Flush()
	}
	want := "\x1b[1ma\x1b[0m     bb  c\näöü       \x1b[31md\x1b[0m\nlast  x\n"
	if diff := cmp.Diff(want, out.String()); err != nil || diff != "" {
		t.Errorf("%v (-want +have):\n%s", err, diff)
	}
}

// TestLanes draws histories, given as "commit parents…" with one letter each.
func TestLanes(t *testing.T) {
	for _, tt := range []struct{ history, want string }{
		{"b a,a", "* b\n* a"},
		{"m bc,b a,c a,a", "* m\n|\\\n* | b\n| * c\n|/\n* a"},
		{"d c,e c,c", "* d\n| * e\n|/\n* c"},
		// Two roots, and a merge of three.
		{"m abc,a,b,c", "* m\n|\\\n|\\|\n| |\\\n* | | a\n  * | b\n    * c"},
		// A line that crosses another one, and a parent that is shown already to lead elsewhere.
		{"x a,y b,z a,b a,a", "* x\n| * y\n| | * z\n| |/\n|/|\n| * b\n|/\n* a"},
		// A parent named twice is one line; a history that is cut short goes on.
		{"m bb,b q", "* m\n* b"},
	} {
		var out strings.Builder
		c := &Console{Out: bufio.NewWriter(&out)}
		for entry := range strings.SplitSeq(tt.history, ",") {
			name, rest, _ := strings.Cut(entry, " ")
			var parents []ipld.CID
			for _, p := range rest {
				parents = append(parents, ipld.Sum(ipld.Raw, []byte(string(p))))
			}
			d := c.Lanes.Draw(ipld.Sum(ipld.Raw, []byte(name)), parents)
			must.OK(t, c.PrintBeside(d, name+"\n"))
		}
		must.OK(t, c.Out.Flush())
		must.Equal(t, strings.TrimSuffix(out.String(), "\n"), tt.want, tt.history)
	}
}

func TestTextForPeople(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{plain.Bytes(0), "0 B"}, {plain.Bytes(1023), "1023 B"}, {plain.Bytes(1536), "1.5 KiB"},
		{plain.Bytes(5 << 20), "5.0 MiB"}, {plain.Bytes(3 << 40), "3.0 TiB"},
		{plain.Bytes(4096 << 40), "4096.0 TiB"},
		{Plural(1, "node"), "1 node"}, {Plural(0, "node"), "0 nodes"},
		{Brief("short", 5), "short"}, {Brief("longer", 5), "long…"}, {Brief("ü\nöäß", 5), "ü\\nö…"},
		{ShortCID(ipld.CID{}), "(none)"},
		{ShortCID(ipld.Sum(ipld.DagCBOR, []byte{0xa0})), "gbtj4x7ip5le"},
		{plain.Lines("a\n\x1b[1mb\r\n"), "a\n\\u{1B}[1mb\\r"},
	} {
		must.Equal(t, tt.got, tt.want)
	}
}

func TestRow(t *testing.T) {
	want := []Cell{{"a", Bold}, {"b", ""}}
	must.Same(t, Row("a", Bold, "b", ""), want)
	must.Same(t, HeadRow("a", "b"), []Cell{{"a", Dim}, {"b", Dim}}, "head")
}

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

package show

import (
	"bufio"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mnem-project/mnem/internal/base/plain"
	"github.com/mnem-project/mnem/internal/verb/branching"
	"github.com/mnem-project/mnem/internal/verb/reading"
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
			d := c.lanes.draw(ipld.Sum(ipld.Raw, []byte(name)), parents)
			if err := c.printBeside(d, name+"\n"); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.Out.Flush(); err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSuffix(out.String(), "\n"); got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.history, got, tt.want)
		}
	}
}

func TestWordDiff(t *testing.T) {
	c := &Console{}
	long := strings.Repeat("a b ", maxCompared)
	for _, tt := range []struct{ old, new, want string }{
		{`"Zoe keeps the ferry"`, `"Zoe keeps the old harbour"`, "Zoe keeps the [-ferry-]{+old harbour+}"},
		{`"same"`, `"same"`, "same"},
		{`"a b c d"`, `"a x c y"`, "a [-b-]{+x+} c [-d-]{+y+}"},
		{``, `"new"`, "{+new+}"},
		{`"old"`, ``, "[-old-]"},
		{`12`, `13`, "[-12-]{+13+}"},
		{`{"a":1}`, `{"a":2}`, `{"a":[-1-]{+2+}}`},
		{`"港口的冬季泊位"`, `"港口的夏季泊位"`, "港口的[-冬-]{+夏+}季泊位"},
		{`"one\ntwo"`, `"one\nthree\u001b[2J"`, `one\n[-two-]{+three\u{1B}[2J+}`},
		{`"x ` + long + `y"`, `"x ` + strings.ReplaceAll(long, "a", "c") + `y"`, "x [-" + strings.TrimSuffix(long, " b ") +
			"-]{+" + strings.TrimSuffix(strings.ReplaceAll(long, "a", "c"), " b ") + "+} b y"},
	} {
		var from, to []byte
		if tt.old != "" {
			from = []byte(tt.old)
		}
		if tt.new != "" {
			to = []byte(tt.new)
		}
		if got := c.wordDiff(from, to); got != tt.want {
			t.Errorf("%.60s, %.60s:\n got %.200s\nwant %.200s", tt.old, tt.new, got, tt.want)
		}
	}
}

func TestTextForPeople(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{plain.Bytes(0), "0 B"}, {plain.Bytes(1023), "1023 B"}, {plain.Bytes(1536), "1.5 KiB"},
		{plain.Bytes(5 << 20), "5.0 MiB"}, {plain.Bytes(3 << 40), "3.0 TiB"},
		{plain.Bytes(4096 << 40), "4096.0 TiB"},
		{plural(1, "node"), "1 node"}, {plural(0, "node"), "0 nodes"},
		{brief("short", 5), "short"}, {brief("longer", 5), "long…"}, {brief("ü\nöäß", 5), "ü\\nö…"},
		{ShortCID(ipld.CID{}), "(none)"},
		{ShortCID(ipld.Sum(ipld.DagCBOR, []byte{0xa0})), "gbtj4x7ip5le"},
		{plain.Lines("a\n\x1b[1mb\r\n"), "a\n\\u{1B}[1mb\\r"},
	} {
		if tt.got != tt.want {
			t.Errorf("%q, want %q", tt.got, tt.want)
		}
	}
}

// TestPrintingFails: what cannot be printed first is the error of what is printed after it, and of nothing more.
func TestPrintingFails(t *testing.T) {
	gone := errors.New("the reader has gone")
	c := &Console{Out: bufio.NewWriterSize(failing{gone}, 16)}
	if err := c.failed(); err != nil {
		t.Errorf("before anything was printed: %v", err)
	}
	c.put("%s\n", strings.Repeat("x", 100))
	c.printConflicts([]reading.Conflict{{Label: "a"}})
	for what, err := range map[string]error{
		"failed": c.failed(), "Printf": c.Printf("y\n"), "Table": c.Table([][]Cell{Row("a", Bold)}),
		"listOf": c.listOf(nil, 1), "an answer": c.MergeAnswer(&branching.Pending{Kept: []branching.Kept{{Branch: "main"}}}),
	} {
		if !errors.Is(err, gone) {
			t.Errorf("%s: %v, want that the reader has gone", what, err)
		}
	}
}

// failing is a writer that fails.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestRow(t *testing.T) {
	want := []Cell{{"a", Bold}, {"b", ""}}
	if got := Row("a", Bold, "b", ""); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := HeadRow("a", "b"); !slices.Equal(got, []Cell{{"a", Dim}, {"b", Dim}}) {
		t.Errorf("head %v", got)
	}
}

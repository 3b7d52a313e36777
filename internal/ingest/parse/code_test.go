package parse

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/testkit/cases"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// outline writes the sections of source code with the lines of their blocks.
func outline(d *Document) []string {
	var out []string
	for _, line := range shown(d) {
		place, _, _ := strings.Cut(line, " ")
		if line[0] == '#' {
			place = line[2:]
		}
		out = append(out, place)
	}
	return out
}

func TestSource(t *testing.T) {
	cases.Golden(t, filepath.Join("testdata", "source.jsonl"), func(t testing.TB, c cases.Case) any {
		var in struct {
			Format Format
			Text   string
		}
		cases.Parse(t, c.Input, &in)
		d := parsed(t, in.Format, in.Text)
		chunks := d.Chunks(nil)
		lossless(t, in.Text, chunks, 0)
		return map[string]any{"outline": outline(d), "imports": append([]string{}, chunks[0].Links...)}
	})
}

// TestLongGo reads Go that is too long for a tree: generated tables, most of the time.
func TestLongGo(t *testing.T) {
	text := "package a\n\nimport \"b\"\n\n// Doc.\nvar table = []int{\n" + strings.Repeat("\t1,\n", maxGo/4) + "}\n\n" +
		"func (t *T) Do() {\n\treturn '\"'\n}\n\ntype T struct{}\n"
	d := parsed(t, Go, text)
	var titles []string
	for _, s := range d.Sections {
		titles = append(titles, s.Title)
	}
	must.Same(t, titles, []string{"var table", "func (t *T) Do", "type T"})
	lossless(t, text, d.Chunks(nil), 0)
}

// TestSourceHostile reads what is expensive for scanners that go back, and what never ends.
func TestSourceHostile(t *testing.T) {
	const n = 1 << 17
	squeeze := func(s string) int { return len(strings.Join(strings.Fields(s), "")) }
	for _, piece := range []string{"(", "{", "\"", "'", "`", "/*", "/* */", "#", "//", "\n", " ", "\t\n", "def a\n", "class A:\n", " class A {\n", "fn a() {\n",
		"<<A ", "<<A\n", "a ", "\\", "template <", "\"\"\"", "@a\n", "#a\n", "import a\n", "import a.b.c;\n", "from 'a", "public ", "void f(", "}\n", "end\n", "a::", "impl<"} {
		text := strings.Repeat(piece, n/len(piece))
		for format := range languages() {
			begin := time.Now()
			d, err := Parse(format, text, nil)
			if err != nil {
				continue // out of bounds
			}
			all := 0
			for _, c := range d.Chunks(nil) {
				all += squeeze(c.Text)
			}
			must.Equal(t, all, squeeze(text), piece, " as ", format, ": text was lost")
			if took := time.Since(begin); took > 10*time.Second { // some .1 s on an idle machine
				t.Errorf("%q as %s took %s", piece, format, took)
			}
		}
	}
}

// FuzzSource reads any text in all languages: no line is lost.
func FuzzSource(f *testing.F) {
	for _, seed := range []string{"class A:\n  def b(self):\n    '''\n", "/* */ class A {\n  b() {\n  }\n}\nc\n", "# a\ndef b\n  <<~X\nX\nend\n",
		"impl A {\n// c\nfn b() {}\n}\n", "namespace a {\n#if\nint f()\n{\n}\n}\n", "f() {\n<<E\nE\n}\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		text, err := Decode([]byte(in))
		if err != nil {
			return
		}
		for format := range languages() {
			d, err := Parse(format, text, nil)
			if err != nil {
				t.Skip(err)
			}
			if chunks := d.Chunks(nil); tokensOf(text) < MaxTokens { // no line is divided
				lossless(t, text, chunks, 0)
			}
		}
	})
}

func TestIsTest(t *testing.T) {
	for name, want := range map[string]bool{
		"a/b_test.go": true, "a/b.go": false, "test_x.py": true, "x/tests/helper.py": true, "conftest.py": true,
		"src/app.spec.ts": true, "src/app.ts": false, "src/latest.ts": false, "src/UserTest.java": true,
		"Contest.java": false, "models/user_spec.rb": true, "docs/tests/plan.md": false, "contest_test.md": false,
	} {
		must.Equal(t, IsTest(name), want, name)
	}
}

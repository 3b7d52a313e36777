package parse

import (
	"errors"
	"path/filepath"
	"slices"
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

func TestHTMLMeta(t *testing.T) {
	d := parsed(t, HTML, `<title> a
 b </title><meta name=Keywords content="x, y"><meta name="author" content="me"><meta name=other content=z><h1>c</h1><p>d<a href="e%20f.html#g">h</a>`+
		`<a href="https://x.y/z">i</a><a href="e f.html">j</a>`)
	if d.Title != "a b" || !slices.Equal(d.Tags, []string{"x", "y"}) || len(d.Sections) != 1 || len(d.Meta) != 1 || d.Meta[0].Name != "author" || d.Meta[0].Value != "me" {
		t.Errorf("%+v", d)
	}
	must.Same(t, d.Chunks(nil)[0].Links, []string{"e f.html"}, "links")
	if c := parsed(t, HTML, `<base href="https://x.y/"><p>a<a href="b.html">c</a>`).Chunks(nil); len(c[0].Links) > 0 {
		t.Errorf("links of another base: %q", c[0].Links)
	}
}

func TestHTMLErrors(t *testing.T) {
	for in, want := range map[string]error{
		"<p>a\n<script>b":                         ErrUnclosed,
		"<p>a\n<script>":                          ErrUnclosed,
		"<p>a<!-- b":                              ErrUnclosed,
		"<p>a<b class=\"c>d</b>":                  ErrUnclosed,
		"<p>a<svg><p>b":                           ErrUnclosed,
		strings.Repeat("<div>", maxDepth+1):       ErrDeep,
		strings.Repeat("<nav>", maxDepth+1):       ErrDeep,
		strings.Repeat("<p>a", MaxBlocks+1):       ErrTooMany,
		strings.Repeat("<h1>a", MaxSections+1):    ErrTooMany,
		"<pre>" + strings.Repeat("a\n", MaxLines): ErrTooMany,
	} {
		_, err := Parse(HTML, in, nil)
		must.Fail(t, err, want, in)
	}
	if _, err := Parse(HTML, "<p>a\n<script>b", nil); err == nil || err.Error() != "line 2: <script> has no end" {
		t.Errorf("%v", err)
	}
	_, err := Parse(HTML, "<p>a", &ReadOptions{Clean: func(string) (string, error) { return "", nil }})
	must.Fail(t, err, ErrClean)
}

// TestHTMLHostile reads pages that are expensive for readers that build a tree, backtrack or recurse.
func TestHTMLHostile(t *testing.T) {
	const n = 1 << 19
	for _, piece := range []string{"<", "<a", "<a ", "<a b=c ", "<p>", "<b>", "<b hidden>", "<li>", "<td>", "<tr><td>a", "<table>", "<a href=x>", "&amp", "&#x41;",
		"&", "</p>", "</", "<!", "<!-->", "<?", "<![CDATA[", "<h1>", "<ul><li>a</ul>", "<title>", "<script></script>", "<nav></nav>", "<svg>", "<main>", "<article>a</article>",
		"<p>a ", "a<br>", "<td>|", "\n", "<pre>a\n</pre>", "<ol><li>a", "<header>"} {
		begin := time.Now()
		d, err := Parse(HTML, strings.Repeat(piece, n/len(piece)), nil)
		if err == nil {
			d.Chunks(nil)
		}
		if took := time.Since(begin); took > 10*time.Second { // some .2 s on an idle machine
			t.Errorf("%q took %s", piece, took)
		}
	}
}

// FuzzHTML reads any page: parsing ends, and the chunks' lines exist.
func FuzzHTML(f *testing.F) {
	for _, seed := range []string{"<p>a</p>", "<table><tr><td>a<td>b</table>", "<ul><li>a<ul><li>b</ul></ul>", "<nav>a", "<main><h1>a</h1><pre>\nb\n</pre></main>",
		"<title>a</title><p hidden>b", "<!-- a --><p>b<br>c", "<div aria-hidden=true>a</div>b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) { fuzzDerived(t, HTML, in, nil) })
}

func columns(t *testing.T, list ...string) *Columns {
	t.Helper()
	c := must.Get(ParseColumns(list))(t)
	must.Same(t, c.List(), list, "became")
	return c
}

func tabled(t *testing.T, format Format, text string, list ...string) *Document {
	t.Helper()
	return must.Get(Parse(format, text, &ReadOptions{Columns: columns(t, list...)}))(t)
}

func TestCSV(t *testing.T) {
	text := "id, name ,body,note,when\n" + "7,\"A, **b**\",\"one\n\ntwo\",x,2024-05-01 10:00:00\n\n" +
		"8,,three,y,2024-05-02\n9,only a name,,,\n"
	d := tabled(t, CSV, text, "text=body", "title=name", "id=id", "time=when")
	want := []string{"# A, **b**", "2-2 one", "4-4 two", "# 8", "6-6 three", "# only a name"}
	must.Same(t, shown(d), want)
	if s := d.Sections[0]; s.ID != "7" || s.Time != "2024-05-01T10:00:00Z" {
		t.Errorf("%+v", s)
	}
	want = []string{"2-2 one", "4-4 two", "4-4 x", "6-6 three", "6-6 y"}
	must.Same(t, shown(tabled(t, CSV, text, "text=body", "text=note")), want)
	for _, sep := range []string{";", "\t"} {
		d := tabled(t, CSV, "a"+sep+"b"+sep+"c, d\n1"+sep+"2,3"+sep+"4\n", "text=b")
		must.Same(t, shown(d), []string{"2-2 2,3"}, sep)
	}
}

func TestJSONL(t *testing.T) {
	text := `{"q": "why?", "n": 12, "tags": ["a", {"b": 1}], "a": "first\n\nsecond"}` + "\n\n" +
		`{"a": null, "n": true, "q": "x"}` + "\n" + `{"a": "last"}`
	d := tabled(t, JSONL, text, "text=a", "text=tags", "title=q", "id=n")
	want := []string{"# why?", "1-1 first", "1-1 second", `1-1 ["a", {"b": 1}]`, "# x", "4-4 last"}
	must.Same(t, shown(d), want)
	must.Equal(t, d.Sections[0].ID, "12")
	must.Equal(t, d.Sections[1].ID, "true")
}

func TestColumns(t *testing.T) {
	for list, want := range map[string]string{
		"title=a": "no column is the text", "text": `"text": want FIELD=COLUMN`, "text=": `"text=": want FIELD=COLUMN`,
		"text=a,id=b,id=c": "id is said twice", "text=a,size=b": `"size": want one of text, title, id, time`, "": `"": want FIELD=COLUMN`,
	} {
		_, err := ParseColumns(strings.Split(list, ","))
		must.True(t, err != nil && err.Error() == want, "%q: %v, want %s", list, err, want)
	}
}

func TestTableErrors(t *testing.T) {
	never := func(string) error { return errors.New("no time") }
	tests := []struct {
		format  Format
		in      string
		columns []string
		want    string
	}{
		{CSV, "a,b\n1,2\n", nil, `nothing says what its columns are: "a", "b"`},
		{JSONL, "{\"a\": 1}\n{\"b\": 2}\n", nil, `nothing says what its columns are: "a", "b"`},
		{CSV, "a,b\n", []string{"text=c"}, `no column "c" among "a", "b"`},
		{JSONL, `{"a": 1}`, []string{"text=a", "id=c"}, `no column "c" among "a"`},
		{CSV, "a,a\n", []string{"text=a"}, ErrForm.Error() + `: two columns are called "a"`},
		{CSV, "a,b\n1\n", []string{"text=a"}, ErrForm.Error() + ": record on line 2: wrong number of fields"},
		{CSV, "a\n\"1\n", []string{"text=a"}, ErrForm.Error() + ": parse error on line 2, column 4: extraneous or missing \" in quoted-field"},
		{JSONL, "{\"a\": 1}\n[1]\n", []string{"text=a"}, "line 2: " + ErrForm.Error() + ": want an object"},
		{JSONL, "{\"a\": 1}\n{\"a\"\n", []string{"text=a"}, "line 2: " + ErrForm.Error() + ": unexpected EOF"},
		{JSONL, "{\"a\": 1} {}\n", []string{"text=a"}, "line 1: " + ErrForm.Error() + ": something behind its end"},
		{CSV, "a,t\n1,\n2,soon\n", []string{"text=a", "time=t"}, "line 3: no time"},
		{CSV, "a,t\n1," + strings.Repeat("x", maxTitle+1) + "\n", []string{"text=a", "title=t"}, "line 2: a title or id of 1001 bytes, limit 1000"},
		{CSV, "a\n" + strings.Repeat("x\n", MaxSections+1), []string{"text=a", "title=a"}, ErrTooMany.Error()},
	}
	for _, test := range tests {
		o := &ReadOptions{Time: never}
		if test.columns != nil {
			o.Columns = columns(t, test.columns...)
		}
		_, err := Parse(test.format, test.in, o)
		must.True(t, err != nil && err.Error() == test.want, "%.40q: %v, want %s", test.in, err, test.want)
	}
	for _, format := range []Format{CSV, JSONL} {
		d := must.Get(Parse(format, "", nil))(t)
		must.True(t, len(d.Blocks) <= 0, "%s, empty", format)
	}
	if many := tabledNames(t); len(many) > 1000 {
		t.Errorf("%d bytes of columns", len(many))
	}
}

// tabledNames returns the error for a table of many columns.
func tabledNames(t *testing.T) string {
	t.Helper()
	_, err := Parse(CSV, strings.Repeat("column,", 9999)+"a\n", nil)
	must.Require(t, err != nil, "no error")
	return err.Error()
}

// FuzzTable reads any table: parsing ends, and the chunks' lines exist.
func FuzzTable(f *testing.F) {
	f.Add("a,b\n1,\"2\n3\"\n")
	f.Add(`{"a": "x", "b": [1]}` + "\n" + `{"a": "y\nz"}`)
	f.Fuzz(func(t *testing.T, in string) {
		for _, list := range [][]string{{"text=a"}, {"text=a", "title=b"}} {
			o := &ReadOptions{Columns: columns(t, list...)}
			fuzzDerived(t, CSV, in, o)
			fuzzDerived(t, JSONL, in, o)
		}
	})
}

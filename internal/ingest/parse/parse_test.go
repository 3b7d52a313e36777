package parse

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/testkit/cases"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

var tokensOf = text.EstimateTokens

func parsed(t testing.TB, format Format, text string) *Document {
	t.Helper()
	return must.Get(Parse(format, text, nil))(t)
}

// shown writes a document as lines: headings with their level of nesting, blocks with their lines.
func shown(d *Document) []string {
	var out []string
	next := 0
	heads := func(to int) {
		for ; next <= to; next++ {
			out = append(out, "# "+strings.Join(d.Path(next), " > "))
		}
	}
	for _, b := range d.Blocks {
		heads(b.Section)
		text := strings.ReplaceAll(d.text[b.start:b.end], "\n", "|")
		out = append(out, fmt.Sprintf("%d-%d %s", b.First, b.Last, text))
	}
	heads(len(d.Sections) - 1)
	return out
}

// TestShown freezes the sections and blocks of texts, with their lines.
func TestShown(t *testing.T) {
	cases.Golden(t, filepath.Join("testdata", "shown.jsonl"), func(t testing.TB, c cases.Case) any {
		var in struct {
			Format Format
			Text   string
		}
		cases.Parse(t, c.Input, &in)
		d := &Document{text: in.Text}
		if in.Format == Markdown { // its first heading is no title here
			s := newScanner(d)
			s.markdown(s.frontMatter())
			must.OK(t, s.bounded())
		} else {
			d = parsed(t, in.Format, in.Text)
		}
		return map[string]any{"title": d.Title, "shown": append([]string{}, shown(d)...)}
	})
}

func TestTitle(t *testing.T) {
	tests := []struct {
		in, title string
		sections  int
	}{
		{"# A\n\n## B\n", "A", 1},
		{"x\n\n# A\n\n## B\n", "", 2}, // something stands before it
		{"# A\n\n# B\n", "", 2},
		{"---\ntitle: \"T: x\"\n---\n# A\n## B\n", "T: x", 1},
		{"## B\n", "", 1},
	}
	for _, test := range tests {
		d := parsed(t, Markdown, test.in)
		must.Equal(t, d.Title, test.title, test.in, ": title")
		must.Equal(t, len(d.Sections), test.sections, test.in, ": title")
		for _, b := range d.Blocks {
			must.True(t, b.Section >= -1 && b.Section < len(d.Sections),
				"%q: a block in section %d", test.in, b.Section)
		}
	}
}

func TestFrontMatter(t *testing.T) {
	d := parsed(t, Markdown, strings.Join([]string{"---", "title: Net", "aliases: [Network, 'the net']",
		"tags:", "  - ops", "- '#infra'", "status: draft", "nested:", "  a: 1", "  b: 2", "text: |", "  two", "  lines",
		"# comment", "empty:", "status: again", "year: 1999", "done: true", "code: '007'", "who: [\"[[Ada]]\", Bo]", "città: Roma", "---", "Body #later and `#code`."}, "\n"))
	want := &Document{
		Title: "Net", Aliases: []string{"Network", "the net"}, Tags: []string{"ops", "infra", "later"},
		Meta: []Field{
			{Name: "status", Value: "draft"}, {Name: "nested", Value: "a: 1\n  b: 2"}, {Name: "text", Value: "|\n  two\n  lines"},
			{Name: "year", Value: "1999", Kind: NumberField}, {Name: "done", Value: "true", Kind: TruthField},
			{Name: "code", Value: "007"}, {Name: "who", Value: "[[Ada]], Bo", Kind: ListField, Items: []string{"[[Ada]]", "Bo"}},
			{Name: "città", Value: "Roma"},
		},
	}
	must.Same(t, []any{d.Title, d.Aliases, d.Tags, d.Meta}, []any{want.Title, want.Aliases, want.Tags, want.Meta})
	if len(d.Blocks) != 2 || d.Blocks[0].First != 2 || d.Blocks[0].Last != 21 || d.Blocks[1].First != 23 {
		t.Errorf("blocks %v", d.Blocks)
	}
	must.Same(t, d.Blocks[0].links, []string{"[[Ada]]"}, "links")
	if d := parsed(t, Markdown, "---\nnot: closed\n"); len(d.Meta) != 0 || len(d.Blocks) != 2 {
		t.Errorf("front matter without an end: %+v", d)
	}
	if d := parsed(t, Text, "---\na: b\n---\n"); len(d.Meta) != 0 || len(d.Blocks) != 1 {
		t.Errorf("front matter in plain text: %+v", d)
	}
}

func TestLinks(t *testing.T) {
	tests := map[string][]string{
		"[a](b.md) and [c](../d/e%20f.md#x \"t\")": {"b.md", "../d/e f.md"},
		"![i](p.png) [x](<a b.md>) [y](u(1).md)":   {"p.png", "a b.md", "u(1).md"},
		"[[Note]] [[Dir/Note#H|shown]] ![[Emb^b]]": {"[[Note]]", "[[Dir/Note]]", "[[Emb^b]]"},
		"| [[A\\|b]] |":                                 {"[[A]]"},
		"`[[no]]` ``[x](no.md) ` `` \\[[no]]":           nil,
		"[x](https://a.b) [y](#here) [z](mailto:a@b.c)": nil,
		"[r][1]\n\n[1]: ref.md \"T\"":                   {"ref.md"},
		"[[#only]] [[ ]] [[open\n]] []( [](":            nil,
		"```\n[[no]]\n```":                              nil,
		"[[a]] [[a]]":                                   {"[[a]]"},
	}
	for in, want := range tests {
		var got []string
		for _, c := range parsed(t, Markdown, in).Chunks(nil) {
			got = append(got, c.Links...)
		}
		must.Same(t, got, want, in)
	}
}

func TestDecode(t *testing.T) {
	wide := func(text string, big bool) []byte {
		out := []byte{0xff, 0xfe}
		if big {
			out = []byte{0xfe, 0xff}
		}
		for _, u := range utf16.Encode([]rune(text)) {
			if big {
				out = append(out, byte(u>>8), byte(u))
			} else {
				out = append(out, byte(u), byte(u>>8))
			}
		}
		return out
	}
	tests := []struct {
		in   []byte
		want string
		err  error
	}{
		{[]byte("a\r\nb\n"), "a\nb\n", nil},
		{[]byte("\ufeffa"), "a", nil},
		{wide("grüße 🙂\r\n", false), "grüße 🙂\n", nil},
		{wide("grüße 🙂\r\n", true), "grüße 🙂\n", nil},
		{[]byte{0xff, 0xfe, 1}, "", ErrEncoding},
		{[]byte("caf\xe9"), "", ErrEncoding},
		{[]byte("a\x00b"), "", ErrBinary},
		{wide("a\x00b", false), "", ErrBinary},
		{nil, "", nil},
	}
	for _, test := range tests {
		got, err := Decode(test.in)
		must.True(t, got == test.want && errors.Is(err, test.err), "%q: %q, %v", test.in, got, err)
	}
}

// paragraphs returns n paragraphs of about 80 tokens, each of its own.
func paragraphs(n int, of string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s %d", of, i)
		for j := range 40 {
			fmt.Fprintf(&b, " word%d", (i*31+j*7)%997)
		}
		b.WriteString(".\n\n")
	}
	return b.String()
}

func TestChunkSizes(t *testing.T) {
	text := "# T\n\nShort.\n\n## A\n\n" + paragraphs(40, "alpha") + "## B\n\n" + paragraphs(3, "beta")
	d := parsed(t, Markdown, text)
	chunks := d.Chunks(nil)
	var sizes []int
	for _, c := range chunks {
		sizes = append(sizes, tokensOf(c.Text))
	}
	for i, n := range sizes {
		if n > MaxTokens+MaxTokens/20 { // blank lines between blocks are not counted
			t.Errorf("chunk %d has %d tokens", i, n)
		}
		last := i+1 == len(chunks) || chunks[i+1].Section != chunks[i].Section
		must.True(t, last || n >= 200, "chunk %d has only %d tokens: %v", i, n, sizes)
	}
	lossless(t, text, chunks, 3) // and three headings
}

// lossless checks that each line that is not blank is in one chunk, but for some.
func lossless(t testing.TB, text string, chunks []Chunk, but int) {
	t.Helper()
	lines := strings.Split(text, "\n")
	seen := make([]bool, len(lines))
	for _, c := range chunks {
		must.Equal(t, strings.Join(lines[c.First-1:c.Last], "\n"), c.Text, "lines ", c.First, "-", c.Last)
		for i := c.First - 1; i < c.Last; i++ {
			must.True(t, !seen[i], "line %d is in two chunks", i+1)
			seen[i] = true
		}
	}
	for i, l := range lines {
		if !seen[i] && !blank(l) {
			but--
		}
	}
	must.Equal(t, but, 0, "lines too many or too few are in no chunk")
}

func TestLongBlocks(t *testing.T) {
	fence := "```\n" + strings.Repeat("line of code\n", 200) + "```\n"
	must.Equal(t, len(parsed(t, Markdown, fence).Chunks(nil)), 1, "a fence became chunks")
	for name, text := range map[string]string{
		"fence": "```\n" + strings.Repeat("line of code\n", 2000) + "```\n",
		"line":  strings.Repeat("A sentence of some words. ", 1000),
		"word":  strings.Repeat("x", 20_000),
		"runes": strings.Repeat("語", 9000),
		"lines": strings.Repeat("one line\n", 2000),
	} {
		chunks := parsed(t, Markdown, text).Chunks(nil)
		var all strings.Builder
		for _, c := range chunks {
			n := tokensOf(c.Text)
			must.True(t, n <= MaxTokens*3/2, "%s: a chunk of %d tokens", name, n)
			all.WriteString(c.Text)
		}
		squeeze := func(s string) string { return strings.Join(strings.Fields(s), "") }
		must.Equal(t, squeeze(all.String()), squeeze(text), name, ": text was lost")
		if last := chunks[len(chunks)-1]; last.Last != strings.Count(strings.TrimSpace(text), "\n")+1 {
			t.Errorf("%s: the last chunk ends in line %d", name, last.Last)
		}
	}
}

// TestChunksStay inserts, changes and removes a paragraph anywhere in a document: what it is not in stays.
func TestChunksStay(t *testing.T) {
	text := "# T\n\n## A\n\n" + paragraphs(25, "alpha") + "## B\n\n" + paragraphs(25, "beta")
	before := parsed(t, Markdown, text).Chunks(nil)
	var known []string
	for _, c := range before {
		known = append(known, c.Text)
	}
	paras := strings.SplitAfter(text, ".\n\n")
	for i := range len(paras) - 1 {
		for what, edited := range map[string]string{
			"insert": strings.Join(slices.Insert(slices.Clone(paras), i+1, "A new paragraph about foxes.\n\n"), ""),
			"remove": strings.Join(slices.Delete(slices.Clone(paras), i, i+1), ""),
		} {
			if what == "remove" && strings.Contains(paras[i], "#") {
				continue // a heading goes with it
			}
			after := parsed(t, Markdown, edited).Chunks(NewKnown(known))
			gone := 0
			for _, k := range known {
				if !slices.ContainsFunc(after, func(c Chunk) bool { return c.Text == k }) {
					gone++
				}
			}
			must.Require(t, gone <= 1 && len(after) <= len(before)+1,
				"%s %d: %d chunks gone, %d chunks, were %d", what, i, gone, len(after), len(before))
		}
	}
}

func TestGo(t *testing.T) {
	text := strings.Join([]string{"// Package a is one.", "package a", "", "import (", `	"fmt"`, `	b "x.org/m/b"`, ")", "",
		"const (", "	X = 1", "	Y = 2", ")", "", "// loose", "", "// T is a type.", "type T[P any] struct{}", "",
		"// Do does.", "func (t *T[P]) Do() {", "	fmt.Println(b.C)", "}", "", "var V int; func one() {}", "func two() {}", "// end"}, "\n")
	d := parsed(t, Go, text)
	want := []string{"1-7 // Package a is one.|package a||import (|	\"fmt\"|	b \"x.org/m/b\"|)",
		"# const X, Y", "9-12 const (|	X = 1|	Y = 2|)", "14-14 // loose",
		"# type T", "16-17 // T is a type.|type T[P any] struct{}",
		"# func (*T) Do", "19-22 // Do does.|func (t *T[P]) Do() {|	fmt.Println(b.C)|}",
		"# var V", "24-24 var V int; func one() {}", "# func two", "25-25 func two() {}", "26-26 // end"}
	must.Same(t, shown(d), want)
	chunks := d.Chunks(nil)
	must.Same(t, chunks[0].Links, []string{"import:fmt", "import:x.org/m/b"}, "imports")
	lossless(t, text, chunks, 0)
	long := "package a\n\n// " + strings.Repeat("word ", 1000) + "\nimport \"fmt\"\n"
	if c := parsed(t, Go, long).Chunks(nil); len(c) < 3 || len(c[0].Links) != 1 {
		t.Errorf("a long package clause: %d chunks, %q", len(c), c[0].Links)
	}
	for _, broken := range []string{"", "no go", "package", "package a\nfunc (", "package a\nfunc f() {\n", "package a\n//line x.go:900\nfunc f() {}\n"} {
		d := parsed(t, Go, broken)
		lossless(t, broken, d.Chunks(nil), 0)
	}
}

// TestNotesGrow appends lines to a note, one after the other, each time upon the chunks of before.
func TestNotesGrow(t *testing.T) {
	text, known := "# Log\n", Known(nil)
	for i := range 100 {
		text += fmt.Sprintf("\n%d: something happened on this day, and somebody wrote it down.\n", i)
		var texts []string
		chunks := parsed(t, Markdown, text).Chunks(known)
		for _, c := range chunks {
			texts = append(texts, c.Text)
		}
		lossless(t, text, chunks, 1)
		known = NewKnown(texts)
	}
	if n := len(known); n < 4 || n > 10 {
		t.Errorf("%d tokens became %d chunks", tokensOf(text), n)
	}
}

func TestSlug(t *testing.T) {
	for in, want := range map[string]string{
		"Hello, World!": "hello-world", "  a - b  ": "a---b", "": "section", "???": "section", "Größe 語": "grosse-語", "Gro\u0308\u00dfe": "grosse",
		"snake_case": "snake_case", strings.Repeat("ü", 100): strings.Repeat("u", 60), strings.Repeat("語", 100): strings.Repeat("語", 20),
	} {
		must.Equal(t, Slug(in), want, in)
	}
}

func TestBounds(t *testing.T) {
	_, err := Parse(Markdown, strings.Repeat("# a\n", MaxSections+1), nil)
	must.Fail(t, err, ErrTooMany)
	_, err = Parse(Text, strings.Repeat("a\n\n", MaxBlocks+1), nil)
	must.Fail(t, err, ErrTooMany)
	must.True(t, must.Err(Parse("odt", "x", nil)) != nil, "a format that there is none of")
	long := "# " + strings.Repeat("x", 2000)
	if d := parsed(t, Markdown, long); len(d.Sections) != 0 || len(d.Blocks) == 0 {
		t.Errorf("a heading of %d bytes: %d sections", len(long), len(d.Sections))
	}
}

// TestHostile reads much of what is expensive for parsers that go back or go deep.
func TestHostile(t *testing.T) {
	const n = 1 << 17
	repeat := func(s string) string { return strings.Repeat(s, n/len(s)) }
	var runs, fields strings.Builder
	for i := 1; runs.Len() < n; i++ {
		runs.WriteString(strings.Repeat("`", i%1000) + " ")
	}
	for i := 0; fields.Len() < n; i++ {
		fmt.Fprintf(&fields, "f%d: x\n", i)
	}
	for name, text := range map[string]string{
		"quotes": repeat("> "), "brackets": repeat("["), "links": repeat("[[a"), "destinations": repeat("]("),
		"parentheses": repeat("[a](("), "backticks": runs.String(), "emphasis": repeat("*a_"), "comments": repeat("<!--\n"),
		"fences": repeat("```\n~~~\n"), "lists": repeat("- "), "items": repeat("- a\n"), "rules": repeat("-\n"),
		"references": repeat("[a]: b\n"), "front": "---\n" + fields.String() + "---\n", "tags": repeat("#a "),
		"indents": repeat("\n" + strings.Repeat(" ", 100) + "a"), "go": "package a\nvar x = " + repeat("("),
		"braces": "package a\nfunc f() " + repeat("{"), "decls": "package a\n" + repeat("func f() {}\n"), "types": "package a\ntype T " + repeat("[]"),
		"rows": "|a|\n|-|\n" + repeat("|b|\n"), "crs": repeat("\r"),
	} {
		for _, format := range []Format{Markdown, Go} {
			begin := time.Now()
			d, err := Parse(format, text, nil)
			if err == nil {
				chunks := d.Chunks(nil)
				known := make([]string, len(chunks))
				for i, c := range chunks {
					known[i] = c.Text
				}
				d.Chunks(NewKnown(known))
			}
			if took := time.Since(begin); took > 10*time.Second { // some .02 s on an idle machine
				t.Errorf("%s as %s took %s", name, format, took)
			}
		}
	}
}

// FuzzMarkdown reads any text: it ends, loses nothing, and what was a chunk stays one.
func FuzzMarkdown(f *testing.F) {
	for _, seed := range []string{"# a\n\nb\n", "---\na: b\n---\nx", "```\n", "- a\n  - b\n", "[[a|b]] [c](d)", "|a|\n|-|\n",
		"<!--", "a\n===\n", strings.Repeat("> ", 500), strings.Repeat("`", 99) + "x", strings.Repeat("[", 999)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		text, err := Decode([]byte(in))
		if err != nil {
			return
		}
		for _, format := range []Format{Markdown, Text, Go} {
			d, err := Parse(format, text, nil)
			if err != nil {
				t.Skip(err)
			}
			chunks := d.Chunks(nil)
			var known []string
			for i, c := range chunks {
				known = append(known, c.Text)
				if c.Text == "" || !strings.Contains(text, c.Text) || c.First < 1 || c.Last < c.First ||
					i > 0 && c.First < chunks[i-1].Last {
					t.Fatalf("%s: chunk %d: %+v", format, i, c)
				}
			}
			for _, c := range d.Chunks(NewKnown(known)) {
				must.Require(t, slices.Contains(known, c.Text),
					"%s: the same text has a new chunk %q", format, c.Text)
			}
		}
	})
}

// TestReadingEndsAtBounds gives documents with more of something than one may have: reading ends if that is seen.
func TestReadingEndsAtBounds(t *testing.T) {
	for name, text := range map[string]string{
		"headings": strings.Repeat("#\n", MaxSections+1),
		"blocks":   strings.Repeat("- a\n", MaxBlocks+1),
		"lines":    strings.Repeat("\n", MaxLines+1),
	} {
		_, err := Parse(Markdown, text, nil)
		must.Fail(t, err, ErrTooMany, name)
	}
	must.Get(Parse(Markdown, strings.Repeat("#\n", MaxSections), nil))(t, "as many headings as there may be")
}

package ingest

import (
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

func TestIgnore(t *testing.T) {
	tests := []struct {
		patterns, path string
		dir, want      bool
	}{
		{"*.log", "a/b.log", false, true},
		{"*.log\n!keep.log", "a/keep.log", false, false},
		{"/top", "top", false, true},
		{"/top", "a/top", false, false},
		{"a/b", "x/a/b", false, false},
		{"a/**/b", "a/x/y/b", false, true},
		{"a/**/b", "a/b", false, true},
		{"**/b", "x/y/b", false, true},
		{"a/**", "a/x/y", false, true},
		{"build/", "build", true, true},
		{"build/", "build", false, false},
		{"build/", "x/build", true, true},
		{"a?c", "abc", false, true},
		{"a?c", "a/c", false, false},
		{"[a-c]x", "bx", false, true},
		{"[!a-c]x", "bx", false, false},
		{"[a", "[a", false, true},
		{`\#x`, "#x", false, true},
		{"# comment", "# comment", false, false},
		{"x ", "x", false, true},
		{"a.b", "aXb", false, false},
		{"\n!\n/\n", "x", false, false},
		{"*", "a/b", false, true},
	}
	for _, test := range tests {
		var none *Ignore
		got := patterns(t, none, ".", test.patterns).Ignores(test.path, test.dir)
		must.True(t, got == test.want, "%q on %q: %v", test.patterns, test.path, got)
	}
	var none *Ignore
	below := patterns(t, patterns(t, none, ".", "*.md"), "in", "!x.md\n/y.txt")
	for path, want := range map[string]bool{
		"in/x.md": false, "in/sub/x.md": false, "x.md": true, "in/z.md": true, "in/y.txt": true, "in/sub/y.txt": false,
	} {
		must.Equal(t, below.Ignores(path, false), want, path, ": ", !want)
	}
}

func TestWalk(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	fsys := fstest.MapFS{
		".gitignore": file("gen/\n"), ".mnemignore": file("!gen/keep.md\nsecret.md\n"),
		"a.md": file("a"), "gen/x.md": file("x"), "secret.md": file("x"), "prog.bin": file("x"),
		".git/x.md": file("x"), ".mnem/x.md": file("x"), ".cursor/rules/r.mdc": file("x"), "node_modules/x.md": file("x"),
		"sub/.gitignore": file("*.txt"), "sub/b.md": file("b"), "sub/c.txt": file("c"), "sub/deep/d.txt": file("d"),
		"sub/deep/LICENSE": file("l"),
	}
	names := func(start string) []string {
		w := must.Get(Walk(t.Context(), fsys, start))(t)
		var out []string
		for _, f := range w.Files {
			out = append(out, f.Name)
		}
		return out
	}
	want := []string{".cursor/rules/r.mdc", "a.md", "sub/b.md", "sub/deep/LICENSE"}
	must.Same(t, names("."), want)
	if got := names("sub/deep"); !slices.Equal(got, want[3:]) { // by the patterns above it
		t.Errorf("%q", got)
	}
	must.True(t, must.Err(Walk(t.Context(), fsys, "nowhere")) != nil, "a directory that there is none of")
}

func TestAlign(t *testing.T) {
	list := func(s string) (out []passage) {
		for _, p := range strings.Split(s, "|") {
			heading, text, ok := strings.Cut(p, ":")
			if !ok {
				heading, text = "", p
			}
			out = append(out, passage{heading, text})
		}
		return out
	}
	tests := []struct {
		old, now string
		want     []int
	}{
		{"a|b|c", "a|b|c", []int{0, 1, 2}},
		{"a|b|c", "a|x|b|c", []int{0, -1, 1, 2}},
		{"a|b|c", "c|a|b", []int{2, 0, 1}}, // one moved
		{"a|a|b", "a|b|a", []int{0, 2, 1}},
		{"h:one two three four", "h:one two three five", []int{0}},
		{"h:one two three four", "g:one two three five", []int{-1}},
		{"h:one two three four", "h:one six seven five", []int{-1}},
		{"h:a b c d|h:a b c x", "h:a b c x y", []int{1}},
		{"a", "a|a", []int{0, -1}},
		{"h:one", "h:one\ntwo three four five", []int{0}}, // lines are written behind it
		{"h:one\ntwo three four five", "h:one", []int{0}},
		{"h:on", "h:one two three four five", []int{-1}},
	}
	for _, test := range tests {
		must.Same(t, align(list(test.old), list(test.now)), test.want, test.old, " to ", test.now)
	}
	must.Same(t, align(nil, list("a")), []int{-1})
}

func TestResolve(t *testing.T) {
	id := func(n byte) graph.ID { return graph.ID{n} }
	at := func(n byte, path string, aliases ...string) named {
		return named{id(n), Path{Name: path}, "Title " + path, aliases, nil}
	}
	n := newNames([]named{
		at(1, "a.md"), at(2, "dir/a.md"), at(3, "dir/b.md", "Bee"), at(4, "lib/README.md"), at(5, "deep/dir/c.md"),
	})
	tests := []struct {
		from, link string
		want       byte
	}{
		{"x.md", "a.md", 1},
		{"dir/x.md", "a.md", 2},
		{"dir/x.md", "../a.md", 1},
		{"dir/x.md", "/a.md", 1},
		{"x.md", "lib", 4},
		{"x.md", "lib/", 4},
		{"x.md", "dir/b", 3},
		{"x.md", "none.md", 0},
		{"x.md", "../../a.md", 0},
		{"x.md", "[[a]]", 1},
		{"dir/x.md", "[[A]]", 2}, // in the same directory
		{"x.md", "[[bee]]", 3},
		{"x.md", "[[dir/c]]", 5},
		{"x.md", "[[Title dir/b.md]]", 3},
		{"x.md", "[[none]]", 0},
		{"x.md", "[[dir/none]]", 0},
	}
	for _, test := range tests {
		want := graph.ID{}
		if test.want > 0 {
			want = id(test.want)
		}
		must.Equal(t, n.resolve(Path{Name: test.from}, test.link), want, test.link, " in ", test.from, " leads")
	}
	must.True(t, n.resolve(Path{Project: "p", Name: "x.md"}, "a.md").IsZero(), "a link leads into another project")
}

// patterns adds those of an ignore file.
func patterns(t *testing.T, up *Ignore, dir, text string) *Ignore {
	t.Helper()
	return must.Get(up.Below(dir, text))(t)
}

// TestWalkGoesOn has directories that cannot be read, and ignore files that are out of bounds: the rest is found.
func TestWalkGoesOn(t *testing.T) {
	fsys := fstest.MapFS{
		"a.md": {}, "long/.gitignore": {Data: []byte("x\n" + strings.Repeat("y", maxPattern+1))}, "long/b.md": {},
		"many/.mnemignore": {Data: []byte(strings.Repeat("x\n", maxPatterns+1))}, "many/b.md": {},
		"big/.gitignore": {Data: make([]byte, maxIgnoreFile+1)}, "big/b.md": {}, "shut/b.md": {}, "z/c.md": {},
	}
	w := must.Get(Walk(t.Context(), shutFS{fsys}, "."))(t)
	var files, unread []string
	for _, f := range w.Files {
		files = append(files, f.Name)
	}
	for _, u := range w.Unread {
		unread = append(unread, u.Name+": "+u.Err.Error())
	}
	want := []string{"big: big/.gitignore has 1048577 bytes, limit 1048576",
		"long: long/.gitignore: line 2: a pattern of 1001 bytes, limit 1000",
		"many: many/.mnemignore: line 10001: more than 10000 patterns", "shut: open shut: permission denied"}
	if !slices.Equal(files, []string{"a.md", "z/c.md"}) || !slices.Equal(unread, want) || !slices.Equal(w.Dirs, []string{".", "z"}) {
		t.Errorf("files %q, unread %q, directories %q", files, unread, w.Dirs)
	}
	if w, err := Walk(t.Context(), shutFS{fsys}, "long"); err != nil || len(w.Unread) != 1 || len(w.Files) > 0 {
		t.Errorf("%+v, %v", w, err)
	}
}

// shutFS has a directory that may not be read.
type shutFS struct{ fstest.MapFS }

func (f shutFS) ReadDir(name string) ([]fs.DirEntry, error) {
	if name == "shut" {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return f.MapFS.ReadDir(name)
}

// TestTitles gives the title of a document to the first chunk of it, whichever that becomes, and to no other; the
// chunks keep their keys.
func TestTitles(t *testing.T) {
	para := func(of string) string { return strings.Repeat(of+" is told here. ", 70) + "\n\n" }
	text := "# Pumps\n\n" + para("one") + para("two") + "## Rules\n\n" + para("three") + "## None\n\n### Deep\n\nfour\n"
	d := newTree(t, map[string]string{"p.md": text})
	d.ingest()
	titles := func() (out []string) {
		_, keys := d.text("p.md")
		for _, key := range keys {
			n, _, err := d.head().Node(t.Context(), graph.NodeID(key))
			must.OK(t, err)
			if n.Content == nil {
				out = append(out, "-")
			} else {
				out = append(out, n.Summary+" in "+n.Context)
			}
		}
		return out
	}
	want := []string{"Pumps in ", "-", "-", "-"}
	must.Same(t, titles(), want)
	_, before := d.text("p.md")
	d.files["p.md"] = strings.Replace(text, "# Pumps\n\n", "# Pumps\n\n"+para("zero"), 1)
	_, plan := d.ingest()
	must.Same(t, titles(), slices.Insert(want, 1, "-"), "a paragraph before all")
	if _, keys := d.text("p.md"); !slices.Equal(keys[1:], before) {
		t.Errorf("keys %q, were %q", keys, before)
	}
	must.True(t, len(plan.Changes) <= 6, "%d changes for a paragraph", len(plan.Changes))
	d.files["p.md"] = "# Pumps\n\n## Rules\n\nthree\n"
	if d.ingest(); !slices.Equal(titles(), []string{"Pumps in Pumps › Rules"}) {
		t.Errorf("begun by a heading: %q", titles())
	}
}

// TestContextsHaveWhatThePackageIsAbout changes a package comment: the chunks of the package follow, without the
// first ones, tests and other packages, and a memory that was filled step by step is like one that was filled at once.
func TestContextsHaveWhatThePackageIsAbout(t *testing.T) {
	const body = "\n\nimport \"os\"\n\n// F does.\nfunc F() { os.Exit(1) }\n"
	files := map[string]string{
		"a/doc.go": "// Package a counts\n// sheep. It is old.\npackage a\n",
		"a/a.go":   "package a" + body, "a/a_test.go": "// Package a is tried.\npackage a" + body,
		"b/b.go": "package b" + body, "a/z.go": "// Package a is not this.\npackage a" + body,
	}
	d := newTree(t, files)
	contexts := func(name string) (out []string) {
		c := must.Get(Open(t.Context(), d.head(), []string{""}))(t)
		doc := c.byPath[Path{Name: name}]
		must.OK(t, c.load(t.Context(), doc))
		for _, n := range doc.chunks {
			out = append(out, n.Context)
		}
		return out
	}
	want := func(about string) {
		t.Helper()
		for name, ends := range map[string]string{
			"a/a.go": about, "a/z.go": about, "a/a_test.go": "", "b/b.go": "",
		} {
			got := contexts(name)
			must.True(t, len(got) == 2 && got[0] == "" && got[1] == name+" › func F"+ends, "%s: %q", name, got)
		}
		if again, _ := d.ingest(); !again.NoChange {
			t.Error("a second run changed something")
		}
	}
	d.ingest()
	want(" › Package a counts sheep")
	d.files["a/doc.go"] = "// Package a counts goats.\npackage a\n"
	if _, plan := d.ingest(); len(plan.Results) != 1 || len(plan.Changes) > 6 {
		t.Errorf("%d changes of %+v", len(plan.Changes), plan.Results)
	}
	want(" › Package a counts goats")
	delete(d.files, "a/doc.go")
	d.ingest()
	want(" › Package a is not this")
	d.files["a/z.go"] = "package a" + body
	d.ingest()
	want("")
	d.files["a/doc.go"] = "/* Package a\ncounts cows */\npackage a\n"
	d.ingest()
	want(" › Package a counts cows")
}

package ingest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/guard"
	"github.com/mnem-project/mnem/internal/ingest/parse"
	"github.com/mnem-project/mnem/internal/memory/sources"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

var testBy = state.Stamp{Author: "tester", Time: 1_700_000_000_000_000, Command: []string{"ingest"}}

// tree is a directory of files and a repository that they are kept in.
type tree struct {
	t       *testing.T
	r       *core.Repo
	files   map[string]string
	sums    *Redactor
	keep    bool
	columns *parse.Columns
}

func newTree(t *testing.T, files map[string]string) *tree {
	t.Helper()
	r := must.Get(care.Init(t.Context(), t.TempDir(), testBy, core.Options{}))(t)
	t.Cleanup(func() {
		report, err := care.Fsck(context.Background(), r, care.FsckOptions{})
		must.True(t, err == nil && len(report.Errors) <= 0, "fsck: %v %+v", err, report)
		must.OK(t, r.Close())
	})
	return &tree{t: t, r: r, files: files, sums: &Redactor{
		Key: func() ([]byte, error) { return []byte("a key"), nil },
	}}
}

// ingest ingests all files and returns the commit and the plan.
func (d *tree) ingest() (*core.CommitResult, *Plan) {
	d.t.Helper()
	in := &Input{Gone: func(Path) bool { return true }, Keep: d.keep, Sums: d.sums}
	for _, name := range slices.Sorted(maps.Keys(d.files)) {
		f, err := Read(Path{Name: name}, parse.FormatOf(name), []byte(d.files[name]), d.columns, d.sums)
		must.OK(d.t, err, name)
		in.Files = append(in.Files, f)
	}
	var plan *Plan
	res, err := d.r.Decide(d.t.Context(), core.DecideOptions{CommitOptions: core.CommitOptions{Stamp: testBy}},
		func(s *core.Snapshot) (*core.Decision, error) {
			c, err := Open(d.t.Context(), s, []string{""})
			if err != nil {
				return nil, err
			}
			plan, err = c.Plan(d.t.Context(), in)
			if err != nil {
				return nil, err
			}
			return &core.Decision{Changes: plan.Changes, Message: "ingest"}, nil
		})
	must.OK(d.t, err)
	return res, plan
}

func (d *tree) head() *core.Snapshot {
	d.t.Helper()
	return must.Get(d.r.Snapshot(d.t.Context(), "HEAD"))(d.t)
}

// document returns the key of the document of a path.
func (d *tree) document(path string) string {
	d.t.Helper()
	c := must.Get(Open(d.t.Context(), d.head(), []string{""}))(d.t)
	must.Require(d.t, c.byPath[Path{Name: path}] != nil, "no document %s", path)
	return c.byPath[Path{Name: path}].node.Key
}

// text returns the texts and keys of a document's chunks, in order.
func (d *tree) text(path string) (texts, keys []string) {
	d.t.Helper()
	c := must.Get(Open(d.t.Context(), d.head(), []string{""}))(d.t)
	doc := c.byPath[Path{Name: path}]
	must.OK(d.t, c.load(d.t.Context(), doc))
	for _, n := range doc.chunks {
		texts, keys = append(texts, textOf(n)), append(keys, n.Key)
	}
	return texts, keys
}

// links returns the paths that links of a document lead to.
func (d *tree) links(path string) []string {
	d.t.Helper()
	s := d.head()
	c := must.Get(Open(d.t.Context(), s, []string{""}))(d.t)
	doc := c.byPath[Path{Name: path}]
	must.OK(d.t, c.load(d.t.Context(), doc))
	var out []string
	for _, n := range doc.chunks {
		for e, err := range s.Adjacency().Bucket(d.t.Context(), n.ID, adjacency.Out, LinksTo, nil) {
			must.OK(d.t, err)
			for _, o := range c.all {
				if o.node.ID == e.Other {
					out = append(out, o.path.Name)
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func changes(res *core.CommitResult) int {
	n, e := res.Nodes, res.Edges
	return n.Added + n.Changed + n.Removed + e.Added + e.Changed + e.Removed
}

// prose returns n paragraphs of about 80 tokens.
func prose(n int, of string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s %d", of, i)
		for j := range 40 {
			fmt.Fprintf(&b, " word%d", (i*31+j*7+len(of)*131)%997)
		}
		b.WriteString(".\n\n")
	}
	return b.String()
}

func notes() map[string]string {
	return map[string]string{
		"a.md":     "# Alpha\n\n## One\n\n" + prose(12, "alpha") + "## Two\n\nSee [[b]] and [c](sub/c.md).\n",
		"b.md":     "# Beta\n\n" + prose(20, "beta"),
		"sub/c.md": "---\naliases: [Gamma]\n---\n\nBack to [[Alpha]].\n",
		"d.txt":    prose(3, "delta"),
	}
}

// TestEditedParagraph edits one paragraph after the other: few nodes and edges change.
func TestEditedParagraph(t *testing.T) {
	d := newTree(t, notes())
	d.ingest()
	paras := strings.SplitAfter(d.files["a.md"], ".\n\n")
	for i := range len(paras) - 1 {
		for what, edited := range map[string]string{
			"insert": strings.Join(slices.Insert(slices.Clone(paras), i+1, prose(1, "fox")), ""),
			"change": strings.Replace(strings.Join(paras, ""), fmt.Sprintf("alpha %d ", i), "omega ", 1),
		} {
			_, before := d.text("a.md")
			d.files["a.md"] = edited
			res, _ := d.ingest()
			n := changes(res)
			must.True(t, n <= 6 && n >= 2, "%s %d: %d changes: %+v %+v", what, i, n, res.Nodes, res.Edges)
			_, after := d.text("a.md")
			kept := 0
			for _, key := range before {
				if slices.Contains(after, key) {
					kept++
				}
			}
			must.True(t, kept >= len(before), "%s %d: %d of %d chunks kept their keys", what, i, kept, len(before))
			d.files["a.md"] = strings.Join(paras, "")
			d.ingest()
		}
	}
}

func TestRename(t *testing.T) {
	d := newTree(t, notes())
	d.ingest()
	key := d.document("b.md")
	_, chunks := d.text("b.md")
	d.files["moved/new.md"] = d.files["b.md"]
	delete(d.files, "b.md")
	_, plan := d.ingest()
	if len(plan.Results) != 1 || plan.Results[0].Action != Renamed || plan.Results[0].From.Name != "b.md" {
		t.Fatalf("%+v", plan.Results)
	}
	must.Equal(t, d.document("moved/new.md"), key, "the document")
	if _, now := d.text("moved/new.md"); !slices.Equal(now, chunks) {
		t.Errorf("chunks were %v and are %v", chunks, now)
	}
	if got := d.links("a.md"); !slices.Equal(got, []string{"moved/new.md", "sub/c.md"}) {
		t.Errorf("[[b]], which nothing else is called by, leads to %v", got)
	}

	// half of the text changes
	d.files["again.md"] = "# Beta\n\n" + prose(15, "beta") + prose(4, "omega")
	delete(d.files, "moved/new.md")
	if _, plan = d.ingest(); len(plan.Results) != 1 || plan.Results[0].Action != Renamed {
		t.Errorf("%+v", plan.Results)
	}
	must.Equal(t, d.document("again.md"), key, "the document")

	// nothing of the text remains
	d.files["other.md"] = prose(8, "zeta")
	delete(d.files, "again.md")
	if _, plan = d.ingest(); len(plan.Results) != 2 {
		t.Errorf("%+v", plan.Results)
	}
	must.True(t, d.document("other.md") != key, "a document took over one that it has nothing of")
}

// TestLinksOfRenamed renames files that are linked by path, and that link others: the links stay until something else
// has the name, or the file is gone.
func TestLinksOfRenamed(t *testing.T) {
	d := newTree(t, map[string]string{
		"home.md":       "# Home\n\n[notes](docs/notes.md) and [the same](docs/notes#top), and [[notes]].\n",
		"docs/notes.md": "# Of notes\n\n" + prose(6, "beta") + "See [more](more.md).\n",
		"docs/more.md":  "# More\n\n" + prose(6, "more"),
	})
	d.ingest()
	key := d.document("docs/notes.md")
	want := func(what string, ofHome, ofNotes []string, name string) {
		t.Helper()
		d.ingest()
		if _, plan := d.ingest(); len(plan.Changes) > 0 {
			t.Errorf("%s: again: %+v", what, plan.Results)
		}
		must.Equal(t, d.document(name), key, what, ": ", name)
		must.Same(t, d.links("home.md"), ofHome, what, ": home.md leads to")
		must.Same(t, d.links(name), ofNotes, what, ": ", name, " leads to")
	}
	move := func(from, to string) {
		d.files[to] = d.files[from]
		delete(d.files, from)
	}
	for i, to := range []string{"old/a.md", "older/b.md", "c.md", "d.md"} { // each time by paths before
		move([]string{"docs/notes.md", "old/a.md", "older/b.md", "c.md"}[i], to)
		want("moved", []string{to}, []string{"docs/more.md"}, to)
	}
	d.files["home.md"] += "\nA line more.\n"
	want("edited", []string{"d.md"}, []string{"docs/more.md"}, "d.md")
	d.files["docs/notes.md"] = "# Others\n\n" + prose(6, "zeta")
	want("another one", []string{"docs/notes.md"}, []string{"docs/more.md"}, "d.md")
	delete(d.files, "docs/notes.md")
	want("which goes", []string{"d.md"}, []string{"docs/more.md"}, "d.md")
	move("d.md", "e.md")
	want("too often", nil, nil, "e.md")
	move("e.md", "docs/notes.md")
	want("and back", []string{"docs/notes.md"}, []string{"docs/more.md"}, "docs/notes.md")
	delete(d.files, "docs/notes.md")
	d.ingest()
	if got := d.links("home.md"); len(got) > 0 {
		t.Errorf("home.md leads to %v, which is gone", got)
	}
}

// TestForgottenStaysForgotten forgets a chunk, a section and a document. Their file is moved away and back, under its
// name and another one, or loses and regains the text: the forgotten nodes stay hidden, all others are shown.
func TestForgottenStaysForgotten(t *testing.T) {
	away := func(d *tree, whole string) { delete(d.files, "b.md"); d.ingest(); d.files["b.md"] = whole }
	for name, leave := range map[string]func(d *tree, whole string){
		"away":  away,
		"twice": func(d *tree, whole string) { away(d, whole); d.ingest(); away(d, whole) },
		"kept":  func(d *tree, whole string) { d.keep = true; away(d, whole); d.keep = false },
		"cut": func(d *tree, whole string) {
			d.files["b.md"] = "# Other\n\nwords\n"
			d.ingest()
			d.files["b.md"] = whole
		},
		"idle": func(d *tree, whole string) {
			delete(d.files, "b.md")
			d.ingest()
			d.unchanged()
			d.files["b.md"] = whole
		},
		"other": func(d *tree, whole string) { away(d, whole); delete(d.files, "b.md"); d.files["z.md"] = whole },
	} {
		for _, what := range []string{TypeChunk, TypeSection, TypeDocument} {
			t.Run(name+"/"+what, func(t *testing.T) {
				d := newTree(t, map[string]string{"a.md": "# A\n\nsee [b](b.md)\n", "b.md": "# One\n\n" + prose(9, "one") +
					"\n\n## Two\n\n" + prose(9, "two") + "\n\n## Three\n\n" + prose(9, "three") + "\n"})
				d.ingest()
				id := d.nodeOf("b.md", what, "two")
				shown := d.shown()
				d.forget(id)
				want := d.shown()
				must.Require(t, (what == TypeChunk) != (want == shown), "forgotten: %q, before %q", want, shown)
				leave(d, d.files["b.md"])
				must.Equal(t, d.state(id), graph.Forgotten, "without its text it")
				d.ingest()
				must.Equal(t, d.state(id), graph.Forgotten, "after its text came back it")
				must.Same(t, d.shown(), want, "after its text came back")
				d.unchanged()
			})
		}
	}
}

// unchanged ingests again, which must change and report nothing.
func (d *tree) unchanged() {
	d.t.Helper()
	if res, plan := d.ingest(); !res.NoChange || len(plan.Results) != 0 {
		d.t.Errorf("ingested again: %+v", plan)
	}
}

// shown returns the paragraphs of all chunks that are shown, sorted.
func (d *tree) shown() string {
	d.t.Helper()
	var out []string
	for e, err := range d.head().Nodes(d.t.Context(), graph.ID{}) {
		must.OK(d.t, err)
		if e.Node.Type == TypeChunk && d.state(e.Node.ID) == "" {
			out = append(out, strings.Split(textOf(e.Node), "\n")...)
		}
	}
	slices.Sort(out)
	return strings.TrimSpace(strings.Join(slices.Compact(out), "\n"))
}

// state returns the state of a node, "" for none.
func (d *tree) state(id graph.ID) graph.State {
	d.t.Helper()
	m := must.Get(d.head().Mark(d.t.Context(), graph.OnNode, id))(d.t)
	if m == nil {
		return ""
	}
	return m.State
}

// nodeOf returns a document's node of a type; of several, the one with word in its key.
func (d *tree) nodeOf(path, typ, word string) graph.ID {
	d.t.Helper()
	key := d.document(path)
	if typ == TypeDocument {
		return graph.NodeID(key)
	}
	for e, err := range d.head().Nodes(d.t.Context(), graph.ID{}) {
		must.OK(d.t, err)
		if e.Node.Type == typ && strings.HasPrefix(e.Node.Key, key) && strings.Contains(e.Node.Key, word) {
			return e.Node.ID
		}
	}
	d.t.Fatalf("no %s of %s", typ, path)
	return graph.ID{}
}

func (d *tree) forget(id graph.ID) {
	d.t.Helper()
	forget := graph.Change{Mark: &graph.MarkChange{On: graph.MarkRef{Node: graph.Ref{ID: id}}, State: graph.Forgotten}}
	must.Get(d.r.Decide(d.t.Context(), core.DecideOptions{CommitOptions: core.CommitOptions{Stamp: testBy}},
		func(*core.Snapshot) (*core.Decision, error) {
			return &core.Decision{Changes: []graph.Change{forget}, Message: "forget"}, nil
		}))(d.t)
}

func TestGoneFiles(t *testing.T) {
	d := newTree(t, notes())
	d.ingest()
	full := d.head().Graph()
	whole := d.files["b.md"]
	delete(d.files, "b.md")
	res, plan := d.ingest()
	must.Require(t, len(plan.Results) == 1 && plan.Results[0].Action == Removed && res.Nodes.Removed >= 3,
		"%+v %+v", plan.Results, res)
	must.Same(t, d.links("a.md"), []string{"sub/c.md"}, "links")
	d.files["b.md"] = whole
	d.ingest()
	must.Equal(t, d.head().Graph(), full, "the file came back and the graph is another one")

	d.keep = true
	delete(d.files, "b.md")
	if _, plan = d.ingest(); len(plan.Results) != 1 || plan.Results[0].Action != Retired {
		t.Fatalf("%+v", plan.Results)
	}
	if res, plan = d.ingest(); !res.NoChange {
		t.Errorf("kept twice: %+v", plan)
	}
	d.files["b.md"] = whole
	if _, plan = d.ingest(); len(plan.Results) != 1 || plan.Results[0].Action != Restored {
		t.Fatalf("%+v", plan.Results)
	}
	must.Equal(t, d.head().Graph(), full, "the file came back and the graph is another one")
}

func TestPackages(t *testing.T) {
	d := newTree(t, map[string]string{
		"a/a.go":      "package a\n\nimport \"x.org/m/lib/b\"\n\n// F is the entry.\nfunc F() { b.G() }\n",
		"lib/b/z.go":  "package b\n\nfunc G() {}\n",
		"lib/b/x.go":  "package b\n\nfunc H() {}\n",
		"b/other.txt": "no package",
	})
	d.ingest()
	imports := func() (out []string) {
		s := d.head()
		c := must.Get(Open(t.Context(), s, []string{""}))(t)
		doc := c.byPath[Path{Name: "a/a.go"}]
		must.OK(t, c.load(t.Context(), doc))
		for e := range doc.edges {
			for _, o := range c.all {
				if e.typ == Imports && e.dst == o.node.ID {
					out = append(out, o.path.Name)
				}
			}
			if e.typ == Defines {
				must.Equal(t, doc.nodes[e.dst].Summary, "a/a.go › func F", "defines")
			}
		}
		return out
	}
	must.Same(t, imports(), []string{"lib/b/x.go"}, "imports")
	d.files["lib/b/doc.go"] = "// Package b is the library.\npackage b\n"
	d.ingest()
	must.Same(t, imports(), []string{"lib/b/doc.go"}, "imports")
	if res, _ := d.ingest(); !res.NoChange {
		t.Error("a second run changed something")
	}
	// a function more is no change of the others
	d.files["lib/b/z.go"] = "package b\n\nfunc A() {}\n\nfunc G() {}\n"
	if res, _ := d.ingest(); res.Nodes.Changed != 1 || res.Nodes.Added != 2 {
		t.Errorf("%+v %+v", res.Nodes, res.Edges)
	}
}

// TestTestsAddNothing checks that the edges of a test file have almost no weight, so that a query finds the tested
// function and not all functions of the test. The edges of other files have their full weight.
func TestTestsAddNothing(t *testing.T) {
	d := newTree(t, map[string]string{
		"a/a.go":      "package a\n\nfunc F() {}\n\nfunc G() {}\n",
		"a/a_test.go": "package a\n\nfunc TestF() {}\n\nfunc TestG() {}\n",
	})
	d.ingest()
	s := d.head()
	c := must.Get(Open(t.Context(), s, []string{""}))(t)
	for name, want := range map[string]uint32{"a/a.go": 1 << 16, "a/a_test.go": 1} {
		doc := c.byPath[Path{Name: name}]
		must.OK(t, c.load(t.Context(), doc))
		seen := 0
		for e := range doc.edges {
			if e.src == doc.node.ID && e.typ == PartOf {
				continue // to the collection
			}
			for entry, err := range s.Adjacency().Bucket(t.Context(), e.src, adjacency.Out, e.typ, nil) {
				must.OK(t, err)
				if seen++; uint32(entry.Weight) != want {
					t.Errorf("%s: an edge %s of weight %d, want %d", name, e.typ, entry.Weight, want)
				}
			}
		}
		must.True(t, seen >= 6, "%s: %d edges", name, seen)
	}
}

// TestRandomEdits changes files at random: each time the stored text equals the files, and a second run changes
// nothing.
func TestRandomEdits(t *testing.T) {
	const seed = 7
	rnd := rand.New(rand.NewPCG(seed, seed))
	d := newTree(t, map[string]string{"f0.md": "# F\n\n" + prose(5, "a")})
	for step := range 60 {
		names := slices.Sorted(maps.Keys(d.files))
		name := names[rnd.IntN(len(names))]
		paras := strings.SplitAfter(d.files[name], "\n\n")
		at := rnd.IntN(len(paras))
		switch rnd.IntN(6) {
		case 0:
			paras = slices.Insert(paras, at, prose(1+rnd.IntN(4), fmt.Sprint("s", step)))
		case 1:
			paras = slices.Insert(paras, at, fmt.Sprintf("## H%d\n\n", rnd.IntN(5)))
		case 2:
			paras = slices.Delete(paras, at, min(len(paras), at+1+rnd.IntN(2)))
		case 3:
			other := rnd.IntN(len(paras))
			paras[at], paras[other] = paras[other], paras[at]
		case 4:
			d.files[fmt.Sprintf("f%d.md", step)] = d.files[name] + prose(1, "copy")
		case 5:
			if len(names) > 1 {
				d.files[fmt.Sprintf("r%d.md", step)] = d.files[name]
				delete(d.files, name)
				name = ""
			}
		}
		if name != "" {
			d.files[name] = strings.Join(paras, "") + "end\n\n"
		}
		d.ingest()
		res, plan := d.ingest()
		must.Require(t, res.NoChange, "seed %d step %d: the second run: %+v", seed, step, plan.Results)
		for name, text := range d.files {
			doc := must.Get(parse.Parse(parse.Markdown, text, nil))(t)
			var want []string
			for _, c := range doc.Chunks(nil) {
				want = append(want, strings.Fields(c.Text)...)
			}
			texts, keys := d.text(name)
			if got := strings.Fields(strings.Join(texts, " ")); !slices.Equal(got, want) {
				t.Fatalf("seed %d step %d: %s says\n%s\nwant\n%s", seed, step, name, got, want)
			}
			slices.Sort(keys)
			must.Require(t, len(slices.Compact(slices.Clone(keys))) == len(keys),
				"seed %d step %d: a key twice in %v", seed, step, keys)
		}
	}
}

func TestSources(t *testing.T) {
	d := newTree(t, map[string]string{"a#1.md": "# A\r\n\r\nFirst.\r\nSecond.\r\n"})
	d.ingest()
	n, _, err := d.head().Node(t.Context(), graph.NodeID(d.document("a#1.md")))
	must.OK(t, err)
	src, err := sources.Parse(n.Sources[0])
	must.True(t, err == nil && src.Path == "a#1.md" && *src.Hash == sha256.Sum256([]byte(d.files["a#1.md"])),
		"%q: %v", n.Sources, err)
	_, keys := d.text("a#1.md")
	c, _, err := d.head().Node(t.Context(), graph.NodeID(keys[0]))
	must.OK(t, err)
	src, err = sources.Parse(c.Sources[0])
	if err != nil || src.First != 3 || src.Last != 4 || *src.Hash != sha256.Sum256([]byte("First.\r\nSecond.\r")) {
		t.Errorf("%q: %v", c.Sources, err)
	}
	must.True(t, c.Context == "" && c.Summary == "A" && n.Summary == "a#1.md",
		"context %q, title %q, place %q", c.Context, c.Summary, n.Summary)
}

func TestSecretsAreTakenOut(t *testing.T) {
	const secret = "ghp_" + "x7Kq2ZpL9vB4nR8tW3yE6uI1oA5sD0fGhJkM"
	text := "# Keys\n\nThe token is " + secret + ", and again " + secret + ".\n"
	d := newTree(t, map[string]string{"k.md": text})
	d.ingest()
	texts, _ := d.text("k.md")
	must.True(t, !strings.Contains(texts[0], secret) && strings.Count(texts[0], "[secret:github-pat:") == 2,
		"%q", texts)
	if found := guard.Find(texts[0]); len(found) > 0 {
		t.Errorf("what was taken out is found: %+v", found)
	}
	if res, _ := d.ingest(); !res.NoChange {
		t.Error("a second run changed something")
	}
	n, _, err := d.head().Node(t.Context(), graph.NodeID(d.document("k.md")))
	must.OK(t, err)
	must.True(t, !strings.Contains(n.Sources[0], "sha256"),
		"%q: a plain hash of a file with a credential", n.Sources)
	d.files["k.md"] = strings.Replace(text, "again", "once more", 1)
	if res, _ := d.ingest(); res.NoChange {
		t.Error("an edit was not seen")
	}
	d.sums.Allow = []string{"github-pat"}
	f := must.Get(Read(Path{Name: "k.md"}, parse.Markdown, []byte(text), nil, d.sums))(t, "taken out")
	must.Equal(t, f.Redacted, 0, "taken out")
	block := "-----BEGIN RSA PRIVATE KEY-----\n" + strings.Repeat("MIIEpAIBAAKCAQEAx7Kq2ZpL9vB4nR8tW3yE6uI1oA5sD0fGhJkM\n", 8) +
		"-----END RSA PRIVATE KEY-----"
	out, n2, err := d.sums.Redact("a\n" + block + "\nb\n")
	if err != nil || n2 != 1 || strings.Contains(out, "MIIE") || strings.Count(out, "\n") != strings.Count(block, "\n")+3 {
		t.Errorf("%d %q %v", n2, out, err)
	}
}

func TestUnreadable(t *testing.T) {
	r := &Redactor{Key: func() ([]byte, error) { return nil, errors.New("no key") }}
	for name, want := range map[string]error{"a\x00b": parse.ErrBinary, "caf\xe9 au lait": parse.ErrEncoding} {
		_, err := Read(Path{Name: "x.md"}, parse.Markdown, []byte(name), nil, r)
		must.Fail(t, err, want, name)
	}
	_, err := Read(Path{Name: "x.txt"}, parse.Text, []byte(" \n\n"), nil, r)
	must.Fail(t, err, ErrEmpty)
	if f, err := Read(Path{Name: "a/Blank note.md"}, parse.Markdown, nil, nil, r); err != nil || f.doc.Title != "Blank note" {
		t.Errorf("an empty note: %v", err)
	}
	for _, name := range []string{`a\b.md`, "a\nb.md", strings.Repeat("x", 1000) + ".md", "../up.md", ""} {
		must.True(t, must.Err(Read(Path{Name: name}, parse.Markdown, []byte("x"), nil, r)) != nil,
			"the name %q was taken", name)
	}
}

// TestMoved plans upon a memory that is not as it was when the files were looked at.
func TestMoved(t *testing.T) {
	d := newTree(t, notes())
	d.ingest()
	c := must.Get(Open(t.Context(), d.head(), []string{""}))(t)
	in := &Input{Gone: func(Path) bool { return false }, Sums: d.sums, Present: map[Path]*Sum{
		{Name: "a.md"}: {1}, {Name: "b.md"}: nil,
	}}
	_, err := c.Plan(t.Context(), in)
	must.Fail(t, err, ErrMoved)
	sum := Sum(sha256.Sum256([]byte(d.files["a.md"])))
	in.Present[Path{Name: "a.md"}] = &sum
	must.Equal(t, len(must.Get(c.Plan(t.Context(), in))(t).Changes), 0)
}

// TestTable checks that records keep their ids and times when their lines move.
func TestTable(t *testing.T) {
	text := "id,name,body,when\n7,Ann,likes pears,2020-01-02\n8,Bob,likes plums,2020-01-03\n"
	d := newTree(t, map[string]string{"t.csv": text})
	d.columns = &parse.Columns{Text: []string{"body"}, Title: "name", ID: "id", Time: "when"}
	d.ingest()
	key := d.document("t.csv")
	section := func() *graph.Node {
		n, _, err := d.head().Node(t.Context(), graph.NodeID(key+"/8"))
		must.OK(t, err)
		return n
	}
	if n := section(); n.Summary != "t › Bob" || n.Created.String()[:10] != "2020-01-03" {
		t.Errorf("%+v", n)
	}
	_, before := d.text("t.csv")
	d.files["t.csv"] = strings.Replace(text, "7,Ann", "5,Eve,likes figs,2020-01-01\n7,Anna", 1)
	_, plan := d.ingest()
	texts, keys := d.text("t.csv")
	must.True(t, len(texts) == 3 && slices.Equal(keys[1:], before) && section().Summary == "t › Bob",
		"%q %q, were %q", texts, keys, before)
	must.True(t, len(plan.Changes) <= 12, "%d changes for a record more and a name", len(plan.Changes))
	if again, _ := d.ingest(); !again.NoChange {
		t.Error("a second run changed something")
	}
	d.columns = &parse.Columns{Text: []string{"body"}}
	if res, _ := d.ingest(); res.NoChange {
		t.Error("other columns changed nothing")
	}
	_, _, err := d.head().Node(t.Context(), graph.NodeID(key+"/8"))
	must.Fail(t, err, store.ErrNotFound)
}

// TestImportsOfSource finds the files of what source files import, and none if a library has that name.
func TestImportsOfSource(t *testing.T) {
	d := newTree(t, map[string]string{
		"src/app/main.py":   "import app.scales\nfrom . import near\nfrom .deep.mod import x\nimport json\nimport os.path\nfrom app.lib import y\n",
		"src/app/scales.py": "a = 1\n", "src/app/near.py": "a = 1\n", "src/app/deep/mod.py": "a = 1\n",
		"src/app/__init__.py": "a = 1\n", "src/app/lib/__init__.py": "a = 1\n", "other/json.py": "a = 1\n",
		"web/a.ts":  "import { b } from './b';\nimport c from '../web/c/index.js';\nimport react from 'react';\n",
		"web/b.tsx": "b();\n", "web/c/index.js": "c();\n", "web/react.js": "r();\n",
		"j/x/A.java": "import y.B;\nimport static x.C.d;\n", "j/y/B.java": "class B {}\n", "j/x/C.java": "class C {}\n",
		"r/main.rs": "mod wood;\nuse crate::wood::Oak;\n", "r/wood.rs": "mod oak;\n", "r/wood/oak.rs": "fn x() {}\n",
		"c/a.c": "#include \"a.h\"\n#include \"sub/b.h\"\n", "c/a.h": "int a;\n", "c/sub/b.h": "int b;\n",
	})
	d.ingest()
	for from, want := range map[string][]string{
		"src/app/main.py": {"src/app/__init__.py", "src/app/deep/mod.py", "src/app/lib/__init__.py", "src/app/scales.py"},
		"web/a.ts":        {"web/b.tsx", "web/c/index.js"}, "j/x/A.java": {"j/x/C.java", "j/y/B.java"},
		"r/main.rs": {"r/wood.rs"}, "r/wood.rs": {"r/wood/oak.rs"}, "c/a.c": {"c/a.h", "c/sub/b.h"},
	} {
		must.Same(t, d.leads(from, Imports), want, from, " imports")
	}
	must.Same(t, d.leads("j/y/B.java", Defines), []string{"j/y/B.java › class B"}, "defines")
}

// leads returns the titles of what edges of a type lead to from a document and its chunks.
func (d *tree) leads(name, typ string) []string {
	d.t.Helper()
	c := must.Get(Open(d.t.Context(), d.head(), []string{""}))(d.t)
	doc := c.byPath[Path{Name: name}]
	must.OK(d.t, c.load(d.t.Context(), doc))
	var out []string
	for e := range doc.edges {
		if e.typ != typ {
			continue
		}
		n, _, err := d.head().Node(d.t.Context(), e.dst)
		must.OK(d.t, err)
		out = append(out, n.Summary)
	}
	slices.Sort(out)
	return out
}

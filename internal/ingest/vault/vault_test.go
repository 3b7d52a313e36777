package vault_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/exchange"
	"github.com/mnem-project/mnem/internal/ingest"
	"github.com/mnem-project/mnem/internal/ingest/vault"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
)

func tip(t *testing.T, r *core.Repo) *core.Snapshot {
	t.Helper()
	return must.Get(r.Snapshot(t.Context(), "HEAD"))(t)
}

func export(t *testing.T, s *core.Snapshot, dir string) (*vault.Result, error) {
	t.Helper()
	root := must.Get(os.OpenRoot(dir))(t)
	defer func() { must.OK(t, root.Close()) }()
	return vault.Export(t.Context(), s, root, vault.WriteOptions{})
}

func mustExport(t *testing.T, s *core.Snapshot, dir string) *vault.Result {
	t.Helper()
	return must.Get(export(t, s, dir))(t)
}

// read reads a directory into a repository, as ingest does.
func read(t *testing.T, into *core.Repo, dir string) (*vault.NoteReader, *core.CommitResult) {
	t.Helper()
	root := must.Get(os.OpenRoot(dir))(t)
	defer func() { must.OK(t, root.Close()) }()
	r := &vault.NoteReader{Root: root, Progress: func(string, int, int) {}}
	var list []graph.Change
	r.Yield = func(c graph.Change) error { list = append(list, c); return nil }
	r.Stored = func(id graph.ID) (*graph.Node, *graph.Mark, error) {
		s, err := into.Snapshot(t.Context(), "HEAD")
		if err != nil {
			return nil, nil, nil // no commit yet
		}
		n, _, err := s.Node(t.Context(), id)
		if errors.Is(err, store.ErrNotFound) {
			return nil, nil, nil
		}
		if err != nil {
			return nil, nil, err
		}
		m, err := s.Mark(t.Context(), graph.OnNode, id)
		return n, m, err
	}
	must.OK(t, r.Read(t.Context()))
	changes := func(yield func(graph.Change, error) bool) {
		for _, c := range list {
			if !yield(c, nil) {
				return
			}
		}
	}
	res := must.Get(into.Commit(t.Context(), changes, core.CommitOptions{Message: "m", Stamp: state.Stamp{
		Author: "other", Time: graph.Time(1_900_000_000_000_000), Command: []string{"ingest"},
	}}))(t)
	return r, res
}

func lines(t *testing.T, s *core.Snapshot) string {
	t.Helper()
	var out bytes.Buffer
	must.Get(exchange.ExportLines(context.Background(), s, &out))(t)
	return out.String()
}

// same exports a memory and reads it back: the same graph, and no change the second time.
func same(t *testing.T, r *core.Repo) {
	t.Helper()
	dir := t.TempDir()
	s := tip(t, r)
	res := mustExport(t, s, dir)
	must.True(t, len(res.Left) <= 0, "left %v", res.Left)
	back, _ := repokit.OverMem(t)
	got, _ := read(t, back, dir)
	must.True(t, len(got.Taken.Places) <= 0 && len(got.Taken.Skipped) <= 0,
		"%v, %v", got.Taken.Places, got.Taken.Skipped)
	if now := tip(t, back); now.Graph() != s.Graph() {
		t.Errorf("another graph: %s", cmp.Diff(lines(t, s), lines(t, now)))
	}
	if _, again := read(t, back, dir); !again.NoChange {
		t.Error("the second reading made a commit")
	}
	again := mustExport(t, tip(t, back), dir)
	must.Equal(t, again.Written, 0, "the second export")
	must.Equal(t, again.Removed, 0, "the second export")
}

// TestSameGraph reads back nodes, edges and marks with every field.
func TestSameGraph(t *testing.T) {
	r, _ := repokit.OverMem(t)
	long := strings.Repeat("words \\\"and\\\" ü ", 20_000)
	repokit.Lines(t, r, `{"node":{"key":"a \"b\" ü","type":"T/x","summary":"s\nt","context":"c","cues":["q","r"],"sources":["file:x.md#L1"],"created":"2020-01-02T03:04:05.000006Z","validFrom":"2021-01-01","validTo":"2022-01-01","props":{"i":-3,"f":0.1,"g":3.0,"t":true,"n":null,"l":[1,"x",{"y":2}],"b":{"/":{"bytes":"AQID"}},"m":{"z":"\u0000"},"key":"x","state":7,"a:b":"- c","tags":["x y","3","true"],"%%":"%%"}}}
{"node":{"key":"long","type":"T","created":"2020-01-01","content":{"text":"`+long+`","media":"text/markdown"}}}
{"node":{"type":"Fact","summary":"a node without a key"}}
{"node":{"key":"marks","type":"Fact","summary":"%% content %%\n\nx","content":"%% links %%\n\n- x"}}
{"node":{"key":"spaces","type":"Fact","summary":"\n\n x \r\n","content":"---\n"}}
{"node":{"key":"one","type":"Fact","summary":"The same title"}}
{"node":{"key":"two","type":"FACT","summary":"the SAME title"}}
{"node":{"key":"three","type":"Fact","summary":"the same ti\u0301tle"}}
{"node":{"key":"bare","type":"con"}}
{"node":{"key":"document","type":"Documents","summary":"a note"}}
{"node":{"key":"old","type":"Fact","summary":"old","created":"1960-01-01"}}
{"edge":{"type":"knows","src":"a \"b\" ü","dst":"long","key":"k","weight":0.25,"props":{"since":2024,"x":"|]] %%"},"sources":["file:y.md"],"validFrom":"2021-01-01","validTo":"2022-01-01","created":"2020-01-01"}}
{"edge":{"type":"knows","src":"a \"b\" ü","dst":"long","props":{"parallel":1}}}
{"edge":{"type":"is [[x]] %%{}%%","src":"long","dst":"long","weight":1}}
{"edge":{"type":"two words:","src":"one","dst":"two"}}
{"mark":{"node":"long","state":"superseded","by":"a \"b\" ü","reason":"r","actor":"bob","time":"2020-01-01"}}
{"mark":{"edge":{"type":"two words:","src":"one","dst":"two"},"state":"stale"}}
`)
	repokit.Lines(t, r, `{"node":{"key":"one","content":"changed later"}}`+"\n"+`{"node":{"key":"bare","type":"con2"}}`)
	must.Get(r.Commit(t.Context(), func(yield func(graph.Change, error) bool) {
		next := "changed in the first microsecond of 1970"
		yield(graph.Change{Node: &graph.NodeChange{Key: "old", Summary: &next}, Time: graph.At(0)}, nil)
	}, core.CommitOptions{Message: "m", Stamp: state.Stamp{
		Author: "a", Time: graph.Time(1_900_000_000_000_000), Command: []string{"commit"},
	}}))(t)
	same(t, r)
}

// TestSamplesAreSame reads back the sample memory.
func TestSamplesAreSame(t *testing.T) {
	r, _ := repokit.OverMem(t)
	repokit.File(t, r, "../../../testdata/demo/memory.jsonl")
	same(t, r)
	repokit.File(t, r, "../../../testdata/demo/change.jsonl")
	same(t, r)
}

// word makes texts of what is hard to write.
func word(rng *rand.Rand) string {
	pieces := []string{"a", "B", " ", "\n", "---", "%%", "]]", "[[", "|", "#", ":", "- ", "\"", "'", "\\", "/", "..", "é", "e\u0301",
		"%% links %%", "%% content %%", "\r\n", "\t", "\u0000", "con", "💡", "\u202e", "true", "3", "{", "}", "*", "~", "key: x"}
	var b strings.Builder
	for range rng.IntN(12) {
		b.WriteString(pieces[rng.IntN(len(pieces))])
	}
	return b.String()
}

func randomLines(rng *rand.Rand) string {
	var b bytes.Buffer
	put := func(kind string, members ...ipld.Entry) { b.Write(exchange.Line(kind, members)) }
	text := func(name, s string) ipld.Entry { return ipld.Entry{Key: name, Value: ipld.StringValue(s)} }
	nodes := 3 + rng.IntN(8)
	for i := range nodes {
		props := []ipld.Entry{text("x"+strings.Trim(word(rng), "\x00"), word(rng)), {Key: "n", Value: ipld.IntValue(rng.Int64() >> 12)},
			{Key: "l", Value: ipld.ListValue(ipld.StringValue(word(rng)), ipld.BoolValue(true))}}
		ipld.SortEntries(props)
		put("node", text("key", fmt.Sprintf("k%d", i)), text("type", "T"+strings.Map(func(c rune) rune {
			if c < ' ' || c == '\u202e' {
				return -1
			}
			return c
		}, word(rng))), text("summary", word(rng)), text("content", word(rng)),
			text("context", word(rng)), ipld.Entry{Key: "props", Value: ipld.MapValue(props...)})
	}
	for range rng.IntN(12) {
		put("edge", text("type", "e"+strings.Map(func(c rune) rune {
			if c < ' ' || c == '\u202e' {
				return -1
			}
			return c
		}, word(rng))), text("src", fmt.Sprintf("k%d", rng.IntN(nodes))),
			text("dst", fmt.Sprintf("k%d", rng.IntN(nodes))), ipld.Entry{Key: "props", Value: ipld.MapValue(text("p", word(rng)))})
	}
	return b.String()
}

// TestRandomGraphsAreSame reads back random memories whose texts look like syntax.
func TestRandomGraphsAreSame(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for i := range 30 {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		r, _ := repokit.OverMem(t)
		repokit.Lines(t, r, randomLines(rng))
		if same(t, r); t.Failed() {
			t.Fatalf("memory %d", i)
		}
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	must.OK(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
	must.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
}

func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := make(map[string]string)
	must.OK(t, filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		rel, _ := filepath.Rel(dir, name)
		out[filepath.ToSlash(rel)] = string(data)
		return err
	}))
	return out
}

// TestDirectories writes only inside the directory, and replaces no foreign file.
func TestDirectories(t *testing.T) {
	r, _ := repokit.OverMem(t)
	repokit.Lines(t, r, `{"node":{"key":"a","type":"Fact","summary":"../../etc/passwd"}}`+"\n"+
		`{"node":{"key":"b","type":"..","summary":"second"}}`+"\n")
	dir := t.TempDir()
	write(t, dir, "mine.md", "mine")
	if _, err := export(t, tip(t, r), dir); !errors.Is(err, vault.ErrForeign) || len(files(t, dir)) != 1 {
		t.Errorf("%v: %v", err, files(t, dir))
	}
	must.OK(t, os.Remove(filepath.Join(dir, "mine.md")))
	mustExport(t, tip(t, r), dir)
	before := files(t, dir)
	must.True(t, before["Fact/etc-passwd.md"] != "" || before["Fact/-..-etc-passwd.md"] != "", "%v", before)
	write(t, dir, ".obsidian/app.json", "{}") // an editor's files stay
	write(t, dir, "Fact/mine.md", "mine")
	repokit.Lines(t, r, `{"remove":{"node":"b"}}`+"\n"+`{"node":{"key":"c","type":"Fact","summary":"third"}}`+"\n")
	res := mustExport(t, tip(t, r), dir)
	now := files(t, dir)
	if res.Removed != 1 || res.Written != 1 || now["Memory/second.md"] != "" || now["Fact/third.md"] == "" ||
		now["Fact/mine.md"] != "mine" || now[".obsidian/app.json"] != "{}" {
		t.Errorf("%+v: %v", res, now)
	}
	must.True(t, must.Err(os.Stat(filepath.Join(dir, "Memory"))) != nil, "an empty directory is left")
	// A person's file has the name of a new note, and a person changed a note.
	for _, name := range []string{"Fact/fourth.md", "Fact/third.md"} {
		write(t, dir, name, "changed by a person")
		repokit.Lines(t, r, `{"node":{"key":"d","type":"Fact","summary":"fourth"}}`+"\n")
		kept := files(t, dir)
		if _, err := export(t, tip(t, r), dir); !errors.Is(err, vault.ErrForeign) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		must.Same(t, files(t, dir), kept)
		must.OK(t, os.Remove(filepath.Join(dir, name)))
	}
	mustExport(t, tip(t, r), dir)
}

// TestInterrupted goes on where a run ended that wrote some files, or only made its own directory.
func TestInterrupted(t *testing.T) {
	r, _ := repokit.OverMem(t)
	repokit.Lines(t, r, randomLines(rand.New(rand.NewPCG(1, 2))))
	dir := t.TempDir()
	must.OK(t, os.Mkdir(filepath.Join(dir, ".mnem-export"), 0o700))
	root := must.Get(os.OpenRoot(dir))(t)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := vault.Export(ctx, tip(t, r), root, vault.WriteOptions{Progress: func(what string, done, _ int) {
		if what == "notes written:" && done == 2 {
			cancel()
		}
	}})
	must.OK(t, root.Close())
	if now := files(t, dir); !errors.Is(err, context.Canceled) || len(now) < 4 || now[ingest.ExportFile] == "" {
		t.Fatalf("%v: %v", err, now)
	}
	if res := mustExport(t, tip(t, r), dir); res.Unchanged == 0 {
		t.Errorf("%+v", res)
	}
}

// TestForgottenStaysInside writes nothing of what was forgotten or erased.
func TestForgottenStaysInside(t *testing.T) {
	r, _ := repokit.OverMem(t)
	repokit.Lines(t, r, `{"node":{"key":"a","type":"Fact","summary":"zebra"}}
{"node":{"key":"b","type":"Fact","summary":"kept"}}
{"node":{"key":"c","type":"Fact","summary":"replaced"}}
{"edge":{"type":"x","src":"b","dst":"a","props":{"p":"zebra"}}}
{"edge":{"type":"x","src":"a","dst":"b","props":{"p":"zebra"}}}
{"edge":{"type":"y","src":"b","dst":"c","props":{"p":"zebra"}}}
{"mark":{"node":"c","state":"superseded","by":"a"}}
{"mark":{"node":"a","state":"forgotten","reason":"zebra"}}
{"mark":{"edge":{"type":"y","src":"b","dst":"c"},"state":"forgotten"}}
`)
	dir := t.TempDir()
	res := mustExport(t, tip(t, r), dir)
	for name, text := range files(t, dir) {
		must.True(t, !strings.Contains(strings.ToLower(name+text), "zebra"), "%s: %s", name, text)
	}
	want := map[string]int{vault.LeftForgotten: 1, vault.LeftEdge: 3, vault.LeftMark: 1}
	must.Same(t, res.Left, want)
	back, _ := repokit.OverMem(t)
	if got, _ := read(t, back, dir); got.Taken.Memories != 2 || len(got.Taken.Places) > 0 {
		t.Errorf("%+v", got.Taken)
	}
}

// TestEditedNotes reads notes that people and editors changed.
func TestEditedNotes(t *testing.T) {
	r, _ := repokit.OverMem(t)
	repokit.Lines(t, r, `{"node":{"key":"a","type":"Fact","summary":"first","props":{"tags":["x"],"gone":1}}}
{"node":{"key":"b","type":"Fact","summary":"second"}}
`)
	dir := t.TempDir()
	mustExport(t, tip(t, r), dir)
	write(t, dir, "Fact/first.md", "---\r\nkey: a\r\ntype: Fact\r\ntags:\r\n  - x\r\n  - 'it''s'\r\nrank: 7\r\nnote: |-\r\n"+
		"  two\r\n  lines\r\nlist: [p, q]\r\n---\r\n\r\nfirst, changed\r\n\r\n%% links %%\r\n\r\n- likes [[second]]\r\n"+
		"- [[Fact/second|2]]\r\n- what is this\r\n- likes [[nothing]]\r\n")
	write(t, dir, "Fact/new.md", "no front matter")
	write(t, dir, "bad.md", "---\nkey: &a b\n---\n")
	write(t, dir, "deep.md", "---\nkey: "+strings.Repeat("[ ", 2_000_000)+strings.Repeat(" ]", 2_000_000)+"\n---\n")
	got, _ := read(t, r, dir)
	want := `{"node":{"key":"a","type":"Fact","props":{"list":["p","q"],"note":"two\nlines","rank":7,"tags":["x","it's"]},` +
		`"created":"2023-11-14T22:13:20.000000Z","summary":"first, changed"}}`
	all := lines(t, tip(t, r))
	must.True(t, strings.Contains(all, want), "%s", all)
	must.Equal(t, strings.Count(all, `"type":"likes"`), 1)
	must.Equal(t, strings.Count(all, `"type":"relates-to"`), 1)
	must.True(t, len(got.Taken.Places) == 4 && got.Taken.Skipped[vault.SkippedForeign] == 1,
		"%q, %v", got.Taken.Places, got.Taken.Skipped)
}

// TestHostile reads forged directories.
func TestHostile(t *testing.T) {
	r, _ := repokit.OverMem(t)
	repokit.Lines(t, r, `{"node":{"key":"a","type":"Fact","summary":"first"}}`)
	for name, manifest := range map[string]string{
		"no JSON": "{", "another version": `{"format":2}`, "a path outside": `{"format":1,"files":{"../x":""}}`,
		"an absolute path": `{"format":1,"files":{"/etc/passwd":""}}`,
	} {
		dir := t.TempDir()
		write(t, dir, ".mnem-export/manifest.json", manifest)
		must.True(t, must.Err(export(t, tip(t, r), dir)) != nil, "%s was taken", name)
		root := must.Get(os.OpenRoot(dir))(t)
		in := &vault.NoteReader{Root: root, Progress: func(string, int, int) {}}
		must.True(t, in.Read(t.Context()) != nil, "%s was read", name)
		must.OK(t, root.Close())
	}
	outside, dir := t.TempDir(), t.TempDir()
	mustExport(t, tip(t, r), dir)
	must.OK(t, os.RemoveAll(filepath.Join(dir, "Fact")))
	if err := os.Symlink(outside, filepath.Join(dir, "Fact")); err != nil {
		t.Skip(err)
	}
	if _, err := export(t, tip(t, r), dir); err == nil || len(files(t, outside)) > 0 {
		t.Errorf("%v: %v", err, files(t, outside))
	}
}

// TestChangedSince replaces a changed note once all that it says was read, and not before.
func TestChangedSince(t *testing.T) {
	for name, edit := range map[string][]string{
		"text":          {"first\n", "first, changed\n"},
		"title of both": {"first\n", "1st\n", "second\n", "2nd\n"},
		"property":      {"type: \"Fact\"", "type: \"Fact\"\nrank: 7"},
		"mark":          {"type: \"Fact\"", "type: \"Fact\"\nstate: retired"},
		"edge":          {`"weight":0.5`, `"weight":0.25`},
		"mark on edge":  {`"weight":0.5`, `"weight":0.5,"mark":{"state":"stale"}`},
		"new link":      {"%% links %%\n", "%% links %%\n\n- likes [[second]]\n"},
	} {
		r, _ := repokit.OverMem(t)
		repokit.Lines(t, r, `{"node":{"key":"a","type":"Fact","summary":"first"}}
{"node":{"key":"b","type":"Fact","summary":"second"}}
{"edge":{"type":"knows","src":"a","dst":"b","weight":0.5}}
`)
		dir := t.TempDir()
		mustExport(t, tip(t, r), dir)
		change := strings.NewReplacer(edit...)
		for file, text := range files(t, dir) {
			if strings.HasSuffix(file, ".md") {
				write(t, dir, file, change.Replace(text))
			}
		}
		kept := files(t, dir)
		_, err := export(t, tip(t, r), dir)
		must.Fail(t, err, vault.ErrForeign, name)
		must.Same(t, files(t, dir), kept, name)
		read(t, r, dir)
		must.Get(export(t, tip(t, r), dir))(t, name, ": after reading")
	}
}

package ingest

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/guard"
	"github.com/mnem-project/mnem/internal/ingest/chats"
	"github.com/mnem-project/mnem/internal/ingest/parse"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

const token = "ghp_" + "x7Kq2ZpL9vB4nR8tW3yE6uI1oA5sD0fGhJkM"

// TestSecretsThatMarkupHides has credentials that only show once markup is taken away.
func TestSecretsThatMarkupHides(t *testing.T) {
	hidden := token[:10] + "**" + token[10:]
	text := "---\npassword:\n  - Tr0ub4dor&3x\n---\nIntro.\n\n## The " + hidden + " key\n\nSee [it](" +
		strings.Replace(token, "_", "%5F", 1) + ".md).\n"
	d := newTree(t, map[string]string{"k.md": text})
	res, _ := d.ingest()
	must.True(t, len(res.Secrets.Findings) <= 0, "the commit found %+v", res.Secrets.Findings)
	if again, _ := d.ingest(); !again.NoChange {
		t.Error("a second run changed something")
	}
	c := must.Get(Open(t.Context(), d.head(), []string{""}))(t)
	doc := c.byPath[Path{Name: "k.md"}]
	must.OK(t, c.load(t.Context(), doc))
	for _, n := range append(doc.chunks, doc.node) {
		found := guard.Node(n)
		must.True(t, len(found) <= 0, "%s: %+v", n.Key, found)
	}
	must.True(t, doc.sum == nil, "a plain hash of a file with credentials")
}

// TestSecretsOfPages has a credential that appears only when a page is parsed, and one in a part that is left out.
func TestSecretsOfPages(t *testing.T) {
	shown := "<p>The key is " + strings.Replace(token, "_", "&#95;", 1) + ".</p>\n"
	for name, page := range map[string]string{"shown": shown, "script": "<script>x = '" + token + "'</script><p>a"} {
		d := newTree(t, map[string]string{"k.html": page})
		res, _ := d.ingest()
		must.True(t, len(res.Secrets.Findings) <= 0, "%s: the commit found %+v", name, res.Secrets.Findings)
		c := must.Get(Open(t.Context(), d.head(), []string{""}))(t)
		must.True(t, c.byPath[Path{Name: "k.html"}].sum == nil, "%s: a plain hash of a file with credentials", name)
		if texts, _ := d.text("k.html"); strings.Contains(texts[0], "ghp_") || len(texts) != 1 ||
			strings.Contains(texts[0], "[secret:github-pat:") != (name == "shown") {
			t.Errorf("%s: %q", name, texts)
		}
		again, _ := d.ingest()
		must.True(t, again.NoChange, "%s: a second run changed something", name)
	}
}

func TestSecretName(t *testing.T) {
	r := &Redactor{Key: func() ([]byte, error) { return []byte("a key"), nil }}
	p := Path{Name: "keys/" + token + ".md"}
	_, err := Read(p, parse.Markdown, []byte("text"), nil, r)
	must.Fail(t, err, ErrName)
	r.Allow = []string{"github-pat"}
	must.Get(Read(p, parse.Markdown, []byte("text"), nil, r))(t, "a rule that is allowed")
}

// TestNothingIsFoundInWhatWasTakenOut tries the marks of all rules in place of credentials.
func TestNothingIsFoundInWhatWasTakenOut(t *testing.T) {
	for _, rule := range guard.Rules() {
		for _, before := range []string{"", "password: ", "api_key = ", "https://user:"} {
			text := before + "[secret:" + rule.ID + ":0a1b]"
			found := guard.Find(text)
			must.True(t, len(found) <= 0, "%q: %+v", text, found)
		}
	}
	must.True(t, len(guard.Find("password: admin:1234")) != 0, "a password in the form of a mark is not found")
}

// TestManyEqualHeadings has thousands of equal headings and texts: four times as many take about four times the memory,
// and the search for an unused key never starts over.
func TestManyEqualHeadings(t *testing.T) {
	plan := func(n int) (*Plan, uint64) {
		d := newTree(t, map[string]string{"h.md": strings.Repeat("## Unreleased\n\nNothing.\n\n", n)})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, p := d.ingest()
		runtime.ReadMemStats(&after)
		return p, after.Mallocs - before.Mallocs
	}
	few, fewAllocs := plan(3_000)
	many, manyAllocs := plan(12_000)
	if a, b := len(few.Changes), len(many.Changes); b > 4*a+8 || b < 4*a-8 {
		t.Errorf("%d changes, %d with four times the headings", a, b)
	}
	must.True(t, manyAllocs <= 6*fewAllocs,
		"%d allocations, %d with four times the headings", fewAllocs, manyAllocs)
}

func TestLinksFitTheirNode(t *testing.T) {
	var b strings.Builder
	for i := range 1900 {
		b.WriteString("[x](" + strings.Repeat(string(rune('a'+i%26)), 480) + strings.Repeat("b", i%20) +
			string(rune('0'+i%10)) + ".md)\n\n")
	}
	d := newTree(t, map[string]string{"l.md": b.String()})
	d.ingest()
	n, _, err := d.head().Node(t.Context(), graph.NodeID(d.document("l.md")))
	must.OK(t, err)
	size := 0
	for _, link := range listProp(n, propLinks) {
		size += len(link)
	}
	must.True(t, size != 0 && size <= maxLinkBytes, "%d bytes of links", size)
}

// TestLinesAreHashedOnce hashes the line that two chunks are of once: a file of one line of 15 MB has 5,000 of them.
func TestLinesAreHashedOnce(t *testing.T) {
	f := &File{Path: Path{Name: "a.md"}, lines: [][]byte{[]byte("long"), []byte("other")}}
	first := f.source(&parse.Chunk{First: 1, Last: 1})
	f.lines[0] = []byte("unread")
	must.Equal(t, f.source(&parse.Chunk{First: 1, Last: 1}), first, "and then")
	if next := f.source(&parse.Chunk{First: 2, Last: 2}); next == first {
		t.Errorf("other lines: %s", next)
	}
}

// TestWikiLinks has several documents that a link may mean.
func TestWikiLinks(t *testing.T) {
	doc := func(name string, aliases ...string) named {
		return named{id: graph.NodeID(name), path: Path{Name: name}, title: stem(name), aliases: aliases}
	}
	n := newNames([]named{
		doc("en/notes/A.md"), doc("en/plugins/Palette.md"), doc("fr/plugins/Palette.md"), doc("Palette.md"),
		doc("en/deep/er/Map.md"), doc("en/other/Map.md"), doc("zz/Map.md"), doc("aa/Map.md"),
		doc("x/Call.md", "Palette", "other/Map", "Heron"), doc("en/notes/Bird.md", "heron"), doc("en/notes/Note v1.2.md"),
		doc("en/notes/Palette box.md"),
	})
	for _, c := range []struct{ from, link, want string }{
		{"en/notes/A.md", "[[Palette]]", "en/plugins/Palette.md"}, // the longest common path
		{"fr/A.md", "[[Palette]]", "fr/plugins/Palette.md"},
		{"A.md", "[[palette]]", "Palette.md"}, // the same directory
		{"en/plugins/A.md", "[[Palette.md]]", "en/plugins/Palette.md"},
		{"es/A.md", "[[Palette]]", "Palette.md"}, // the shortest path
		{"en/notes/A.md", "[[Map]]", "en/other/Map.md"},
		{"q/A.md", "[[Map]]", "aa/Map.md"},             // the first by its bytes
		{"q/A.md", "[[other/Map]]", "en/other/Map.md"}, // a file before an alias
		{"q/A.md", "[[fr/plugins/Palette]]", "fr/plugins/Palette.md"},
		{"en/notes/A.md", "[[Heron]]", "en/notes/Bird.md"}, // aliases by the same rules
		{"y/A.md", "[[Heron]]", "x/Call.md"},
		{"q/A.md", "[[note V1.2]]", "en/notes/Note v1.2.md"},
		{"en/notes/A.md", "[[../plugins/Palette]]", "en/plugins/Palette.md"},
		{"q/A.md", "[[lugins/Palette]]", ""},
		{"q/A.md", "[[Nothing]]", ""},
	} {
		var want graph.ID
		if c.want != "" {
			want = graph.NodeID(c.want)
		}
		got := n.follow([]Path{{Name: c.from}}, c.link)
		must.True(t, got == want, "%s of %s leads to %v, want %s (%v)", c.link, c.from, got, c.want, want)
	}
}

// TestCutCredentials has a credential where the short form of a call ends, and in the name of a branch.
func TestCutCredentials(t *testing.T) {
	var nodes []*graph.NodeChange
	taker := &Taker{
		Format: "claude-code", Seen: map[graph.ID]bool{},
		Redact: &Redactor{Key: func() ([]byte, error) { return []byte("a key"), nil }},
		Yield: func(c graph.Change) error {
			if c.Node != nil {
				nodes = append(nodes, c.Node)
			}
			return nil
		},
	}
	line := `{"type":"assistant","uuid":"u","sessionId":"s","gitBranch":"` + token + `","message":{"content":[` +
		`{"type":"tool_use","name":"Bash","input":{"command":"` + strings.Repeat("x ", 85) + token + `"}}]}}`
	must.OK(t, chats.Read("claude-code", "", strings.NewReader(line), taker))
	must.Require(t, len(nodes) == 2, "%d nodes", len(nodes))
	for _, n := range nodes {
		found := guard.Change(&graph.Change{Node: n})
		must.True(t, len(found) <= 0, "%s: %+v", n.Key, found)
		for _, p := range n.Props {
			if p.Key != "calls" {
				continue
			}
			call := p.Value.List()[0].Text()
			must.True(t, !strings.Contains(call, token[:8]) && len(call) <= maxCall, "%q", call)
		}
	}
}

// TestLabelsOfCredentials has a credential in each label of a memory, at the place where it is cut.
func TestLabelsOfCredentials(t *testing.T) {
	at := func(n int) string { return strings.Repeat("x", n-10) + " " + token }
	files := map[string]string{
		"server-memory": `{"type":"entity","name":"a","entityType":"` + at(maxType) + `","observations":["x"]}` + "\n" +
			`{"type":"relation","from":"a","to":"a","relationType":"` + at(maxType) + `"}`,
		"mem0": `[{"id":"a","memory":"x","categories":["` + at(maxTag) + `"],"user_id":"` + at(maxLabel) +
			`","metadata":{"` + at(maxName-5) + `":"` + at(maxLabel) + `"}}]`,
		"chatgpt": `[{"id":"c","title":"` + at(maxLabel) + `","mapping":{"a":{"message":{"author":{"role":"user","name":"` +
			at(maxLabel) + `"},"content":{"parts":["x"]}}}}}]`,
	}
	for format, text := range files {
		taken := 0
		taker := &Taker{
			Format: format, Seen: map[graph.ID]bool{},
			Redact: &Redactor{Key: func() ([]byte, error) { return []byte("a key"), nil }},
			Yield: func(c graph.Change) error {
				taken++
				if said := fmt.Sprintf("%+v %+v", c.Node, c.Edge); strings.Contains(said, token[:8]) {
					t.Errorf("%s: %s", format, said)
				}
				return nil
			},
		}
		if err := chats.Read(format, "", strings.NewReader(text), taker); err != nil || taken == 0 ||
			len(taker.Taken.Places) > 0 || taker.Taken.Redacted == 0 {
			t.Errorf("%s: %v, %d changes, %+v", format, err, taken, taker.Taken)
		}
	}
}

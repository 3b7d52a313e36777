package ingest

import (
	"runtime"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/guard"
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
	must.Check(t, len(res.Secrets.Findings) <= 0, "the commit found %+v", res.Secrets.Findings)
	if again, _ := d.ingest(); !again.NoChange {
		t.Error("a second run changed something")
	}
	c := must.Get(Open(t.Context(), d.head(), []string{""}))(t)
	doc := c.byPath[Path{Name: "k.md"}]
	must.OK(t, c.load(t.Context(), doc))
	for _, n := range append(doc.chunks, doc.node) {
		found := guard.Node(n)
		must.Check(t, len(found) <= 0, "%s: %+v", n.Key, found)
	}
	must.Check(t, doc.sum == nil, "a plain hash of a file with credentials")
}

// TestSecretsOfPages has a credential that appears only when a page is parsed, and one in a part that is left out.
func TestSecretsOfPages(t *testing.T) {
	shown := "<p>The key is " + strings.Replace(token, "_", "&#95;", 1) + ".</p>\n"
	for name, page := range map[string]string{"shown": shown, "script": "<script>x = '" + token + "'</script><p>a"} {
		d := newTree(t, map[string]string{"k.html": page})
		res, _ := d.ingest()
		must.Check(t, len(res.Secrets.Findings) <= 0, "%s: the commit found %+v", name, res.Secrets.Findings)
		c := must.Get(Open(t.Context(), d.head(), []string{""}))(t)
		must.Check(t, c.byPath[Path{Name: "k.html"}].sum == nil,
			"%s: a plain hash of a file with credentials", name)
		if texts, _ := d.text("k.html"); strings.Contains(texts[0], "ghp_") || len(texts) != 1 ||
			strings.Contains(texts[0], "[secret:github-pat:") != (name == "shown") {
			t.Errorf("%s: %q", name, texts)
		}
		again, _ := d.ingest()
		must.Check(t, again.NoChange, "%s: a second run changed something", name)
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
			must.Check(t, len(found) <= 0, "%q: %+v", text, found)
		}
	}
	must.Check(t, len(guard.Find("password: admin:1234")) != 0, "a password in the form of a mark is not found")
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
	must.Check(t, manyAllocs <= 6*fewAllocs,
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
	must.Check(t, size != 0 && size <= maxLinkBytes, "%d bytes of links", size)
}

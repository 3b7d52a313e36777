package journeys

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// keep makes the page remember the files that it makes, and gives them back as texts.
const keep = `window.files = [];
URL.createObjectURL = ((make) => (b) => { files.push(b); return make.call(URL, b); })(URL.createObjectURL);`

// file returns the text of the newest file that the page made.
func (b *tab) file(n int) string {
	b.t.Helper()
	b.run("window.text = null; files.at(-1) && files.at(-1).text().then((t) => { window.text = t; })")
	b.wait("files.length >= " + string(rune('0'+n)) + " && window.text !== null")
	return get[string](b, "window.text")
}

func TestGraph(t *testing.T) {
	b := inside(t, demo(t))
	b.at("#/node/alice")
	b.click("a", "Graph")
	b.wait("document.querySelectorAll('.net .node').length > 5")
	before := get[int](b, "document.querySelectorAll('.net .node').length")
	b.run("document.querySelectorAll('.net .node')[1].dispatchEvent(" +
		"new KeyboardEvent('keydown', {key: 'Enter', bubbles: true}))")
	b.wait("document.querySelectorAll('.net .node.open').length == 2")
	b.shot("graph")
	after := get[int](b, "document.querySelectorAll('.net .node').length")
	if after <= before {
		t.Errorf("%d nodes, then %d", before, after)
	}
	b.click("summary", "In words")
	b.wait("document.querySelectorAll('.graph details li').length > 5")
	b.click("fieldset label", "reports-to")
	b.wait("document.querySelectorAll('.net .node').length <= " + "1000")
	b.run(keep)
	b.click("button", "DOT")
	if text := b.file(1); !strings.HasPrefix(text, "digraph memory {") || !strings.Contains(text, "->") {
		t.Errorf("DOT: %.200s", text)
	}
	b.click("button", "Mermaid")
	if text := b.file(2); !strings.HasPrefix(text, "graph LR") {
		t.Errorf("Mermaid: %.200s", text)
	}
	b.click("button", "SVG")
	if text := b.file(3); !strings.HasPrefix(text, "<svg") || strings.Contains(text, "class=") {
		t.Errorf("SVG: %.200s", text)
	}
	b.click("button", "PNG")
	b.wait("files.at(-1).type === 'image/png'")
}

// TestGraphOfSearch draws what a question found, and what is around that.
func TestGraphOfSearch(t *testing.T) {
	b := inside(t, demo(t))
	b.at("#/search?q=who+leads+infra")
	b.click("a", "As a graph")
	b.wait("document.querySelectorAll('.net .node.open').length > 3")
	b.reads("Around who leads infra")
	b.shot("graph-search")
	b.at("#/graph")
	b.reads("A graph begins with a memory or a question")
}

// TestGraphIsTheSame draws a graph twice: each node is at the same place.
func TestGraphIsTheSame(t *testing.T) {
	m := demo(t)
	b := inside(t, m)
	places := func() string {
		b.at("#/graph/svc%2Fbilling")
		b.wait("document.querySelectorAll('.net .node').length > 3")
		b.wait(`(() => { const v = document.querySelector('.net').getAttribute('viewBox');
			const same = v === window.before; window.before = v; return same; })()`)
		return get[string](b, "[...document.querySelectorAll('.net .node')].map((e) => e.getAttribute('transform')).join()")
	}
	one := places()
	b.do(chromedp.Reload())
	b.wait("document.querySelector('#main')")
	if two := places(); one != two {
		t.Errorf("%s\n%s", one, two)
	}
}

// TestReports opens what the page kept from disk.
func TestReports(t *testing.T) {
	m := demo(t)
	m.mnem("remember", "--type", "Note", `<script>document.title='owned'</script>`)
	b := inside(t, m)
	path := filepath.Join(t.TempDir(), "report.html")
	open := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		o := b.other()
		o.visit("file://" + path)
		o.wait("document.querySelector('main')")
		if n := get[int](o, "document.querySelectorAll('script, a[href], img').length"); n != 0 {
			t.Errorf("%d elements that load or run", n)
		}
		o.shot("report")
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, said := range o.bad {
			t.Errorf("the report complained: %s", said)
		}
	}
	b.at("#/diff?a=HEAD~1&b=HEAD")
	b.reads("document.title='owned'")
	b.run(keep)
	b.click("button", "Keep as HTML")
	text := b.file(1)
	if !strings.Contains(text, "&lt;script&gt;") || strings.Contains(text, "<script") {
		t.Errorf("%s", text)
	}
	open(text)
	b.at("#/session/review")
	b.click("button", "Show all that was given")
	b.wait("document.querySelectorAll('.records details li a').length == 4")
	b.click("button", "Keep as HTML")
	text = b.file(2)
	if !strings.Contains(text, "what blocks the winter launch?") {
		t.Errorf("%s", text)
	}
	open(text)
}

package journeys

import (
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
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

// memories is how many memories the graph says it shows.
const memories = "parseInt(document.querySelector('.graph [role=status]')?.textContent.replaceAll(',', '') ?? '0')"

// rest waits until the graph shows more than a number of memories, and none of them moves.
func (b *tab) rest(more int) int {
	b.t.Helper()
	b.wait(fmt.Sprintf("%s > %d && document.querySelector('.net')?.dataset.rest == %s", memories, more, memories))
	return get[int](b, memories)
}

func TestGraph(t *testing.T) {
	b := inside(t, demo(t))
	b.at("#/node/alice")
	b.click("header.line a", "Graph")
	before := b.rest(5)
	b.click("summary", "As a list")
	b.click("details li button", "Expand")
	after := b.rest(before)
	b.click("button", "Expand all")
	b.rest(after)
	b.shot("graph")
}

// TestGraphFiles keeps a graph in each form.
func TestGraphFiles(t *testing.T) {
	m := empty(t)
	m.mnem("add", "--set", "zoe", "--type", "Person", `summary=Zoe "<b>&amp;`)
	m.mnem("add", "--set", "boat", "--type", "Boat", "summary=The boat")
	m.mnem("add", "--link", "zoe", "owns", "boat")
	m.mnem("commit", "-m", "two")
	b := inside(t, m)
	b.at("#/graph/zoe")
	b.rest(1)
	b.run(keep)
	b.click("button", "DOT")
	if text := b.file(1); !strings.HasPrefix(text, "digraph memory {") || strings.Count(text, "->") != 1 {
		t.Errorf("DOT: %.200s", text)
	}
	b.click("button", "Mermaid")
	if text := b.file(2); !strings.HasPrefix(text, "graph LR") || !strings.Contains(text, "owns") {
		t.Errorf("Mermaid: %.200s", text)
	}
	b.click("button", "SVG")
	text := b.file(3)
	if strings.Count(text, "<circle") != 2 || strings.Count(text, "<line") != 1 || strings.Contains(text, "<b>") ||
		xml.Unmarshal([]byte(text), new(struct{})) != nil {
		t.Errorf("SVG: %s", text)
	}
	b.click("button", "PNG")
	b.wait("files.at(-1).type === 'image/png' && files.at(-1).size > 2000")
}

// TestGraphByKeyboard chooses memories by arrow keys and expands one.
func TestGraphByKeyboard(t *testing.T) {
	b := inside(t, demo(t))
	b.at("#/graph/alice")
	before := b.rest(5)
	b.do(chromedp.Focus(".net"), chromedp.KeyEvent(kb.ArrowRight))
	b.wait("document.querySelector('.chosen .type')")
	first := get[string](b, "document.querySelector('.chosen').textContent")
	for range 20 {
		b.do(chromedp.KeyEvent(kb.ArrowLeft))
		b.do(chromedp.KeyEvent(kb.ArrowDown))
	}
	b.wait(fmt.Sprintf("document.querySelector('.chosen').textContent !== %q", first))
	b.do(chromedp.KeyEvent("\r"))
	b.rest(before)
	b.do(chromedp.KeyEvent("+"), chromedp.KeyEvent("-"), chromedp.KeyEvent("0"))
}

// TestGraphByMouse finds a memory by moving over the picture, and expands it by a click.
func TestGraphByMouse(t *testing.T) {
	b := inside(t, demo(t))
	b.at("#/graph/svc%2Fbilling")
	before := b.rest(5)
	box := get[[]float64](b, "(({x, y, width, height}) => [x, y, width, height])"+
		"(document.querySelector('.net').getBoundingClientRect())")
	expanded := false
	for i := 0; i < 900 && !expanded; i++ {
		x, y := box[0]+box[2]*(0.1+0.8*float64(i%30)/30), box[1]+box[3]*(0.1+0.8*float64(i/30)/30)
		b.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x, y))
		if !get[bool](b, "document.querySelector('.net').style.cursor === 'pointer'") {
			continue
		}
		b.do(chromedp.MouseClickXY(x, y))
		time.Sleep(300 * time.Millisecond) // the start itself is expanded already
		expanded = get[int](b, memories) > before
	}
	if !expanded {
		t.Errorf("no click expanded anything")
	}
}

// TestGraphOfSearch draws what a question found, and what is around that.
func TestGraphOfSearch(t *testing.T) {
	b := inside(t, demo(t))
	b.at("#/search?q=who+leads+infra")
	b.click("a", "Show as graph")
	b.rest(10)
	b.reads("Around who leads infra")
	b.shot("graph-search")
}

// TestGraphOfCommunity begins with the communities, and draws the edges inside one of them.
func TestGraphOfCommunity(t *testing.T) {
	b := inside(t, demo(t))
	b.click("nav a", "Graph")
	b.reads("or with a community")
	b.shot("graph-overview")
	b.click(".rows a", "")
	b.reads("Community 1, 39 memories")
	if n := b.rest(30); n != 39 {
		t.Errorf("%d memories", n)
	}
	b.shot("graph-community")
}

// TestGraphFilters leaves out types of edges and of memories, and what was created at other times.
func TestGraphFilters(t *testing.T) {
	b := inside(t, demo(t))
	b.at("#/graph/alice")
	all := b.rest(5)
	b.click("summary", "Filters")
	for _, box := range []string{"details fieldset:nth-child(1) input", "details fieldset:nth-child(2) input"} {
		b.run("document.querySelectorAll('" + box + "').forEach((e) => e.click())")
		b.wait(memories + " === 1")
		b.run("document.querySelectorAll('" + box + "').forEach((e) => e.click())")
		b.wait(fmt.Sprintf("%s === %d", memories, all))
	}
	set := "((e) => { e.value = '%s'; e.dispatchEvent(new Event('input', {bubbles: true})); })" +
		"(document.querySelector('details input[type=date]'))"
	b.run(fmt.Sprintf(set, "2030-01-01"))
	b.wait(memories + " === 1")
	b.run(fmt.Sprintf(set, "2026-09-10"))
	b.wait(fmt.Sprintf("%s > 1 && %s < %d", memories, memories, all))
	b.run(fmt.Sprintf(set, ""))
	b.wait(fmt.Sprintf("%s === %d", memories, all))
}

// TestGraphIsTheSame draws a graph twice: it is the same picture, byte for byte.
func TestGraphIsTheSame(t *testing.T) {
	b := inside(t, demo(t))
	picture := func() string {
		b.at("#/graph/svc%2Fbilling")
		n := b.rest(5)
		b.click("button", "Expand all")
		b.rest(n)
		b.run(keep)
		b.click("button", "SVG")
		return b.file(1)
	}
	one := picture()
	b.do(chromedp.Reload())
	b.wait("document.querySelector('#main')")
	if two := picture(); one != two {
		t.Errorf("%.3000s\n%.3000s", one, two)
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
	b.click("button", "Save as HTML")
	text := b.file(1)
	if !strings.Contains(text, "&lt;script&gt;") || strings.Contains(text, "<script") {
		t.Errorf("%s", text)
	}
	open(text)
	b.at("#/session/review")
	b.click("button", "Show all results")
	b.wait("document.querySelectorAll('.records details li a').length == 4")
	b.click("button", "Save as HTML")
	text = b.file(2)
	if !strings.Contains(text, "what blocks the winter launch?") {
		t.Errorf("%s", text)
	}
	open(text)
}

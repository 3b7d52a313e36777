package journeys

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
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

// memories is how many memories the graph says it shows.
const memories = "parseInt(document.querySelector('.graph [role=status]')?.textContent.replaceAll(',', '') ?? '0')"

// rest waits until the graph shows more than a number of memories, and none of them moves.
func (b *tab) rest(more int) int {
	b.t.Helper()
	b.wait(fmt.Sprintf("%s > %d && document.querySelector('.net')?.dataset.rest == %s", memories, more, memories))
	return get[int](b, memories)
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

// TestReports opens what the page kept from disk.
func TestReports(t *testing.T) {
	m := demo(t)
	m.mnem("remember", "--type", "Note", `<script>document.title='owned'</script>`)
	b := inside(t, m)
	path := filepath.Join(t.TempDir(), "report.html")
	open := func(text string) {
		t.Helper()
		mustOK(t, os.WriteFile(path, []byte(text), 0o600))
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

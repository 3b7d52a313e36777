package journeys

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// inside opens the memory in a browser that is let in.
func inside(t *testing.T, m *memory, args ...string) *tab {
	t.Helper()
	m.serve(append([]string{"view", "--print"}, args...)...)
	b := open(t)
	b.visit(m.url)
	b.wait("document.querySelector('#main')")
	return b
}

// TestLongText shows a text of a megabyte in part, and the rest when it is asked for.
func TestLongText(t *testing.T) {
	m := empty(t)
	line := `{"node":{"key":"long","type":"Note","summary":"A long one","content":"` +
		strings.Repeat("<b>x</b> ", 116_000) + `"}}`
	mustOK(t, os.WriteFile(filepath.Join(m.dir, "long.jsonl"), []byte(line+"\n"), 0o600))
	m.mnem("commit", "-m", "long", "long.jsonl")
	b := inside(t, m)
	b.at("#/node/long")
	b.reads("show all 1,044,000 characters")
	b.click("button", "show all")
	b.wait("document.querySelector('div.text').textContent.length == 1044000")
	if n := get[int](b, "document.querySelectorAll('main b').length"); n > 3 {
		t.Errorf("%d elements came from the text", n)
	}
}

// TestAccessible checks every page with axe-core; AXE names its file.
func TestAccessible(t *testing.T) {
	path := os.Getenv("AXE")
	if path == "" {
		t.Skip("AXE names no axe.min.js")
	}
	axe := mustGet(os.ReadFile(path))(t)
	b := inside(t, everywhere(t), "--write")
	for i, page := range append(pages, []string{"#/?menu", "Last changed"}) {
		at, ready := page[0], page[1]
		if i == len(pages)/2 {
			b.dark()
		}
		b.at(at)
		b.reads(ready)
		if at == "#/?menu" {
			b.do(chromedp.EmulateViewport(390, 844))
			b.click(".burger", "")
			b.run("document.querySelector('dialog').showModal()")
		}
		b.run("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
		time.Sleep(500 * time.Millisecond) // for the requests that follow
		b.run(string(axe))
		b.run("window.said = null; axe.run().then((r) => { window.said = r.violations.map((v) => " +
			"`${v.id}: ${v.help}: ` + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 200)).join(' | ')); })")
		b.wait("window.said !== null")
		for _, said := range get[[]string](b, "window.said") {
			t.Errorf("%s: %s", at, said)
		}
	}
}

package journeys

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// overflowing lists the visible elements that reach beyond the right edge of the window.
const overflowing = `[...document.querySelectorAll('body *')].filter((e) => {
	const r = e.getBoundingClientRect();
	if (r.width < 2 || r.right <= innerWidth + 1 || !e.checkVisibility()) return false;
	for (let p = e.parentElement; p; p = p.parentElement) {
		if (getComputedStyle(p).overflowX !== 'visible' && p.getBoundingClientRect().right <= innerWidth + 1) return false;
	}
	return true;
}).slice(0, 3).map((e) => e.outerHTML.slice(0, 150))`

// squeezed lists the texts that are broken into lines of fewer than six characters.
const squeezed = `(() => {
	const out = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let n = walk.nextNode(); n; n = walk.nextNode()) {
		const text = n.data.trim();
		if (text.length < 8 || !n.parentElement.checkVisibility() || n.parentElement.closest('.sr, .skip, canvas, option')) continue;
		if (n.parentElement.closest('thead')?.clientWidth < 2) continue; // its words stand beside each cell
		const range = document.createRange();
		range.selectNodeContents(n);
		const lines = new Set([...range.getClientRects()].map((r) => Math.round(r.top))).size;
		if (lines > 2 && text.length / lines < 6) out.push(lines + ' lines: ' + text.slice(0, 80));
	}
	return out.slice(0, 3);
})()`

// covered lists the controls of the first screen that something else lies on, other than what sticks to an edge.
const covered = `[...document.querySelectorAll('button, input, select, summary')].filter((e) => {
	const r = e.getBoundingClientRect(), x = r.left + r.width / 2, y = r.top + r.height / 2;
	if (!e.checkVisibility() || r.width < 2 || y < 0 || y > innerHeight || e.closest('.sr, fieldset')) return false;
	const over = document.elementFromPoint(x, y);
	return over && !e.contains(over) && !over.contains(e) && !over.closest('.decide');
}).slice(0, 3).map((e) => e.outerHTML.slice(0, 150))`

// everywhere is a memory that has something to show on every page: long words, tables and pairs too.
func everywhere(t *testing.T) *memory {
	t.Helper()
	m := demo(t)
	m.mnem("remember", "--time", "2026-10-20T10:00:00Z", "Berths of Kestrel Marina cost 40 crowns a night")
	m.mnem("remember", "Berths of Kestrel Marina cost 55 crowns a night")
	m.mnem("remember", "The mirror is at https://mirror.example/"+strings.Repeat("a/very/long/path/", 20)+" since May")
	m.document("guide", "# Guide\n\n| option | meaning | a third column | a fourth |\n|---|---|---|---|\n"+
		"| `--a-very-long-option-name-that-goes-on` | what it does, in words | "+strings.Repeat("x", 90)+" | y |\n\n"+
		"- one\n  - two\n    - three\n      1. four\n\n```\n"+strings.Repeat("word ", 60)+"\n```\n")
	return m
}

// document commits a part of a document in Markdown.
func (m *memory) document(key, text string) {
	m.t.Helper()
	node := map[string]any{"key": key, "type": "Chunk", "context": "A guide", "summary": text, "sources": []string{"file:a.md#L1"}}
	line := mustGet(json.Marshal(map[string]any{"node": node}))(m.t)
	mustOK(m.t, os.WriteFile(filepath.Join(m.dir, key+".jsonl"), append(line, '\n'), 0o600))
	m.mnem("commit", "-m", key, key+".jsonl")
}

// pages are the page's pages, with a text of each.
var pages = [][]string{
	{"#/", "Last changed"}, {"#/search?q=what+does+a+berth+cost", "As prompt text"},
	{"#/search?q=wifi+password+of+the+lighthouse", "How it was found"}, {"#/search?q=who+leads+infra&type=Person", "As prompt text"},
	{"#/browse", "More"}, {"#/browse?type=Person", "Alice"}, {"#/node/alice", "Properties"}, {"#/node/guide", "four"},
	{"#/node/doc%2Fpm-double-charge", "Properties"}, {"#/map", "Parts"}, {"#/graph", "or with a community"},
	{"#/graph/alice", "As a list"}, {"#/history", "The load test passed"}, {"#/commit/HEAD", "Save as HTML"},
	{"#/diff?a=HEAD~3&b=HEAD", "Save as HTML"}, {"#/diff?a=HEAD~5&b=HEAD~4", "props.status"}, {"#/review", "Both are true"},
	{"#/sessions", "winter launch"}, {"#/session/review", "Replay all"}, {"#/operations", "commit --message"},
	{"#/nothing", "There is no page"},
}

// TestEveryPage looks at each page on small screens, a laptop and a wall, in light and in dark: nothing reaches beyond the
// edge. On small screens all is open that can be: no text is squeezed into a column of letters, and no control is covered.
func TestEveryPage(t *testing.T) {
	b := inside(t, everywhere(t), "--write")
	for _, look := range []struct {
		name          string
		width, height int64
	}{{"phone", 390, 844}, {"narrow", 320, 568}, {"light", 1280, 900}, {"wide", 3840, 2160}, {"dark", 1280, 900}} {
		if look.name == "dark" {
			b.dark()
		}
		b.do(chromedp.EmulateViewport(look.width, look.height))
		for _, page := range pages {
			b.at(page[0])
			b.reads(page[1])
			if look.width < 400 {
				b.run("document.querySelectorAll('main details').forEach((d) => { d.open = true; })")
				b.wait("![...document.querySelectorAll('[role=status]')].some((e) => e.textContent.includes('Reading'))")
				for _, by := range []string{overflowing, squeezed, covered} {
					for _, found := range get[[]string](b, by) {
						t.Errorf("%s, %s: %s\nis found by %.60s", look.name, page[0], found, by)
					}
				}
			}
			if over := get[int](b, "document.documentElement.scrollWidth - innerWidth"); over > 0 {
				t.Errorf("%s, %s: %d pixels too wide", look.name, page[0], over)
			}
			b.shot(look.name + "-" + strings.Trim(strings.NewReplacer("#/", "", "/", "-", "?", "-").Replace(page[0]), "-"))
		}
	}
}

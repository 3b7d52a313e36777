package journeys

import (
	"encoding/json"
	"fmt"
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
	line, err := json.Marshal(map[string]any{"node": node})
	if err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(m.dir, key+".jsonl"), append(line, '\n'), 0o600); err != nil {
		m.t.Fatal(err)
	}
	m.mnem("commit", "-m", key, key+".jsonl")
}

// TestPhone goes through every page on small screens, with all that can be opened open: nothing reaches beyond the
// edge, and no text is squeezed into a column of letters.
func TestPhone(t *testing.T) {
	m := everywhere(t)
	b := inside(t, m, "--write")
	for _, size := range []struct{ width, height int64 }{{390, 844}, {320, 568}} {
		b.do(chromedp.EmulateViewport(size.width, size.height))
		for _, page := range []struct{ at, ready string }{
			{"#/", "Last changed"}, {"#/search?q=what+does+a+berth+cost", "As prompt text"},
			{"#/search?q=wifi+password+of+the+lighthouse", "How it was found"}, {"#/browse", "More"},
			{"#/node/alice", "Properties"}, {"#/node/guide", "four"}, {"#/map", "Parts"}, {"#/graph", "or with a community"},
			{"#/graph/alice", "As a list"}, {"#/history", "The load test passed"}, {"#/commit/HEAD", "Save as HTML"},
			{"#/diff?a=HEAD~3&b=HEAD", "Save as HTML"}, {"#/review", "Both are true"}, {"#/sessions", "winter launch"},
			{"#/session/review", "Replay all"}, {"#/operations", "commit --message"}, {"#/nothing", "There is no page"},
		} {
			b.at(page.at)
			b.reads(page.ready)
			b.run("document.querySelectorAll('main details').forEach((d) => { d.open = true; })")
			b.wait("![...document.querySelectorAll('[role=status]')].some((e) => e.textContent.includes('Reading'))")
			for _, look := range []struct{ what, by string }{{"too wide", overflowing}, {"squeezed", squeezed}, {"covered", covered}} {
				for _, found := range get[[]string](b, look.by) {
					t.Errorf("%d wide, %s: %s: %s", size.width, page.at, look.what, found)
				}
			}
			if over := get[int](b, "document.documentElement.scrollWidth - innerWidth"); over > 0 {
				t.Errorf("%d wide, %s: %d pixels too wide", size.width, page.at, over)
			}
			b.shot(fmt.Sprintf("phone-%d-%s", size.width, strings.Trim(strings.NewReplacer("#/", "", "/", "-", "?", "-").
				Replace(page.at), "-")))
		}
	}
}

// TestMenu opens the pages from the menu of a small screen. The header stays one row.
func TestMenu(t *testing.T) {
	b := inside(t, demo(t))
	b.do(chromedp.EmulateViewport(320, 568))
	b.reads("Last changed")
	if high := get[float64](b, "document.querySelector('.top').getBoundingClientRect().height"); high > 60 {
		t.Errorf("the header is %v pixels high", high)
	}
	b.wait("!document.querySelector('.top nav').checkVisibility()")
	b.click(".burger", "Search")
	b.wait("document.querySelector('.top nav').checkVisibility() && document.querySelector('.burger').ariaExpanded === 'true'")
	b.shot("menu")
	b.click(".top nav a", "History")
	b.reads("The load test passed")
	b.wait("!document.querySelector('.top nav').checkVisibility()")
	b.do(chromedp.EmulateViewport(1280, 900))
	b.wait("document.querySelector('.top nav').checkVisibility() && !document.querySelector('.burger').checkVisibility()")
}

// TestKeys searches, goes through a list, opens an item and shows the keys, all by keys.
func TestKeys(t *testing.T) {
	b := inside(t, demo(t))
	b.at("#/history")
	b.reads("The load test passed")
	at := "[...document.querySelectorAll('.log > li')].indexOf(document.activeElement)"
	for i, key := range []string{"j", "j", "k", "k", "k"} {
		b.do(chromedp.KeyEvent(key))
		if got, want := get[int](b, at), []int{0, 1, 0, 0, 0}[i]; got != want {
			t.Errorf("key %d, %s: item %d, want %d", i, key, got, want)
		}
	}
	b.do(chromedp.KeyEvent("\r"))
	b.wait("location.hash.startsWith('#/commit/')")
	b.do(chromedp.KeyEvent("?"))
	b.wait("document.querySelector('dialog').open")
	b.shot("keys")
	b.do(chromedp.KeyEvent("j"), chromedp.KeyEvent("\u001b"))
	b.wait("!document.querySelector('dialog').open")
	b.do(chromedp.KeyEvent("/"))
	b.wait("location.hash === '#/' && document.activeElement.id === 'q'")
	b.do(chromedp.KeyEvent("/"), chromedp.KeyEvent("j"), chromedp.KeyEvent("?"))
	if v := get[string](b, "document.querySelector('#q').value"); v != "/j?" {
		t.Errorf("typed %q", v)
	}
	b.click("button", "?")
	b.click("dialog input", "")
	b.click("dialog button", "Close")
	b.at("#/history")
	b.reads("The load test passed")
	b.do(chromedp.KeyEvent("j"), chromedp.KeyEvent("?"))
	if n := get[int](b, at); n != -1 || get[bool](b, "document.querySelector('dialog').open") {
		t.Errorf("keys that are switched off do something: item %d", n)
	}
}

// pairs is a memory with two pairs to decide.
func pairs(t *testing.T) *memory {
	t.Helper()
	m := small(t)
	m.mnem("remember", "--time", "2026-10-20T10:00:00Z", "Berths of Kestrel Marina cost 40 crowns a night")
	m.mnem("remember", "--time", "2026-10-20T10:00:00Z", "The ferry to Kestrel leaves at 8:15 from pier 3")
	m.mnem("remember", "Berths of Kestrel Marina cost 55 crowns a night")
	m.mnem("remember", "The ferry to Kestrel leaves at 9:30 from pier 3")
	return m
}

// TestPairs settles a pair by one click, and keeps both sides of another one.
func TestPairs(t *testing.T) {
	m := pairs(t)
	b := inside(t, m, "--write")
	b.at("#/review")
	b.reads("Does the new one replace the old one?")
	b.wait("[...document.querySelectorAll('[aria-labelledby=pairs] del')].some((e) => e.textContent === '40')")
	b.shot("pairs")
	b.press("40", "Replaces it")
	b.reads("The old one is marked superseded.")
	b.wait("document.querySelectorAll('[aria-labelledby=pairs] li').length === 1")
	b.press("8:15", "Both are true")
	b.reads("Both stay")
	b.wait("!document.querySelector('[aria-labelledby=pairs]')")
	shown := m.mnem("ls")
	for text, want := range map[string]bool{"40 crowns": false, "55 crowns": true, "8:15": true, "9:30": true} {
		if strings.Contains(shown, text) != want {
			t.Errorf("%q is listed: %v in\n%s", text, !want, shown)
		}
	}
}

// TestPairsRefused leaves a pair as it is where the policy says no, and a reader only the commands.
func TestPairsRefused(t *testing.T) {
	m := pairs(t)
	policy := filepath.Join(m.dir, ".mnem", "policy.json")
	if err := os.WriteFile(policy, []byte(`{"version":1,"rules":[]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	b := inside(t, m, "--write")
	b.okay = []string{"403", "ERR_CONNECTION_REFUSED"}
	b.at("#/review")
	b.press("40", "Replaces it")
	b.reads("policy")
	if shown := m.mnem("ls"); !strings.Contains(shown, "40 crowns") {
		t.Errorf("settled in spite of the policy: %s", shown)
	}
	m.stop()
	reader := inside(t, m)
	reader.at("#/review")
	reader.click("[aria-labelledby=pairs] summary", "Commands")
	reader.reads("mnem mark superseded", "mnem mark different")
	if n := get[int](reader, "document.querySelectorAll('[aria-labelledby=pairs] button').length"); n != 0 {
		t.Errorf("%d buttons for a reader", n)
	}
}

// TestVerdicts shows verdicts as the terminal does.
func TestVerdicts(t *testing.T) {
	m := demo(t)
	b := inside(t, m)
	for _, question := range []string{"who leads the payments work", "wifi password of the lighthouse"} {
		b.at("#/search?q=" + strings.ReplaceAll(question, " ", "+"))
		line, _, _ := strings.Cut(m.mnem("recall", question), "\n")
		b.wait(fmt.Sprintf("document.querySelector('.verdict')?.innerText.replace(/\\s+/g, ' ').trim() === %q", line))
	}
}

// TestGlance sees how the memory grew and what was asked most.
func TestGlance(t *testing.T) {
	m := small(t)
	m.mnem("session", "start", "night")
	for _, question := range []string{"who mends the nets", "who keeps the lighthouse", "Who mends the nets"} {
		m.mnem("retrieve", "--session", "night", question)
	}
	b := inside(t, m)
	b.reads("Growth", "3 commits since", "in the last week +3 memories", "Asked most")
	b.wait("/^who mends the nets 2×$/i.test(document.querySelector('.asked li').textContent)")
	b.wait("document.querySelector('.growth path').getAttribute('d').length > 10")
	b.click(".asked a", "lighthouse")
	b.wait("document.querySelectorAll('.card').length > 0")
}

// TestOperationsInWords reads what was done, and what undo would do.
func TestOperationsInWords(t *testing.T) {
	m := small(t)
	b := inside(t, m, "--write")
	b.at("#/operations")
	b.reads("Xenia sells the catch", "1 memory added", "Created the memory", "Undo 4 first")
	b.click("li:first-child button", "Undo…")
	b.reads("goes back to", "This takes back: 1 memory added")
	b.shot("undo")
	b.click("button.main", "Undo 4")
	b.reads("Operation 4 is undone.", "Undid operation 4")
	if said := m.mnem("ls"); strings.Contains(said, "Xenia") {
		t.Errorf("%s", said)
	}
}

// TestRevisions takes ids and revisions of the page to the command line.
func TestRevisions(t *testing.T) {
	m := small(t)
	b := inside(t, m)
	b.at("#/history")
	b.wait("document.querySelectorAll('.log code.cid').length === 3")
	for _, rev := range get[[]string](b, "[...document.querySelectorAll('.log code.cid')].map((e) => e.textContent)") {
		if said := m.mnem("log", "-n", "1", "--at", rev); !strings.Contains(said, rev) {
			t.Errorf("%s: %s", rev, said)
		}
	}
	b.at("#/browse")
	b.wait("document.querySelectorAll('.rows code.cid').length === 3")
	for _, id := range get[[]string](b, "[...document.querySelectorAll('.rows code.cid')].map((e) => e.textContent)") {
		if said := m.mnem("show", id); !strings.Contains(said, "id: "+id) {
			t.Errorf("%s: %s", id, said)
		}
	}
}

const hostile = "# Title <script>document.title = 'owned'</script>\n\n" +
	"<img src=x onerror=\"document.title='owned'\"> <iframe src=https://a.example></iframe> <style>*{display:none}</style>\n\n" +
	"![picture](https://tracker.example/x.png) [run](javascript:document.title='owned') [data](data:text/html,x)\n\n" +
	"[bank.example](https://thief.example/login) <javascript:alert(1)> https://plain.example/x. [relative](other.md)\n\n" +
	"| a | b |\n|---|---|\n| <b>c</b> | **d** |\n\n- one\n- two\u202e\n\n```html\n<svg onload=alert(1)>\n```\n"

// TestHostileMarkdown shows a document: nothing in it runs, is loaded or leads anywhere but to the web.
func TestHostileMarkdown(t *testing.T) {
	m := empty(t)
	m.document("hostile", hostile)
	b := inside(t, m)
	b.at("#/node/hostile")
	b.wait("document.querySelector('.doc table td strong')?.textContent === 'd'")
	b.reads("<script>document.title = 'owned'</script>", "<b>c</b>", "<svg onload=alert(1)>", "image: picture", "U+202E")
	b.shot("hostile-markdown")
	if n := get[int](b, "document.querySelectorAll('.doc :is(img, script, iframe, style, svg, object, embed, form, b)').length"); n != 0 {
		t.Errorf("%d elements came from the text", n)
	}
	links := get[[]string](b, "[...document.querySelectorAll('.doc a')].map((e) => [e.protocol, e.rel, e.innerText].join(' '))")
	for _, link := range links {
		if !strings.HasPrefix(link, "https: noopener noreferrer nofollow ") {
			t.Errorf("link %q", link)
		}
	}
	if said := strings.Join(links, "\n"); len(links) != 4 || !strings.Contains(said, "bank.example (thief.example") {
		t.Errorf("links:\n%s", said)
	}
	if n := get[int](b, "performance.getEntriesByType('resource').filter((e) => new URL(e.name).origin !== location.origin)"+
		".length"); n != 0 {
		t.Errorf("%d requests went elsewhere", n)
	}
	if title := get[string](b, "document.title"); strings.Contains(title, "owned") {
		t.Error("a text ran")
	}
	b.click("button", "As text")
	b.wait("document.querySelector('.doc div.text').textContent.includes('**d**')")
}

// TestWholeDocument reads an ingested file in its own order.
func TestWholeDocument(t *testing.T) {
	m := empty(t)
	text := "# Harbour\n\nFirst words.\n\n## Berths\n\n| place | price |\n|---|---|\n| north | 40 |\n\n## Annex\n\nLast *words*.\n"
	if err := os.WriteFile(filepath.Join(m.dir, "harbour.md"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	m.mnem("ingest", "harbour.md")
	b := inside(t, m)
	b.at("#/browse?type=Document")
	b.click(".rows a", "harbour.md")
	b.click("summary", "The whole document")
	b.wait("document.querySelector('.doc em')?.textContent === 'words'")
	if said := get[string](b, "[...document.querySelectorAll('.doc :is(h2, p, td)')].map((e) => e.innerText).join('|')"); !strings.
		Contains(said, "First words.|Berths|north|40|Annex|Last words.") {
		t.Errorf("%s", said)
	}
	b.shot("document")
}

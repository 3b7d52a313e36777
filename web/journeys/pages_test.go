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

func TestCodeLeavesTheAddress(t *testing.T) {
	m := demo(t)
	b := inside(t, m)
	b.reads("218 memories")
	if at := get[string](b, "location.href"); strings.Contains(at, "code") {
		t.Errorf("address %q", at)
	}
	if n := get[int](b, "history.length"); n > 2 {
		t.Errorf("%d entries of history", n)
	}
	if cookie := get[string](b, "document.cookie"); cookie != "" {
		t.Errorf("scripts read the cookie %q", cookie)
	}
	b.do(chromedp.Reload())
	b.reads("218 memories")
	other := b.other()
	other.visit(strings.Split(m.url, "#")[0])
	other.reads("218 memories")
}

func TestSearch(t *testing.T) {
	b := inside(t, demo(t))
	b.shot("begin")
	b.do(chromedp.SendKeys("#q", "who leads the payments work\r"))
	b.wait("document.querySelectorAll('.card').length > 1")
	b.wait("document.querySelector('.verdict b')")
	b.reads("Copy as prompt text")
	b.click(".card summary", "Why")
	b.reads("Lanes", "Terms")
	b.shot("search")
	b.click(".how summary", "How it was found")
	b.reads("Lanes were fused by")
	b.click(".card h2 a", "")
	b.reads("Properties", "Edges", "History")
	b.shot("node")
}

func TestFilters(t *testing.T) {
	b := inside(t, demo(t))
	b.at("#/search?q=who+leads+the+gateway&type=Person")
	b.wait("document.querySelectorAll('.card').length > 0")
	if types := get[[]string](b, "[...document.querySelectorAll('.card .type')].map((e) => e.textContent)"); strings.Trim(
		strings.Join(types, ""), "Person") != "" {
		t.Errorf("types %v", types)
	}
	b.wait("document.querySelector('input[name=type][value=Person]').checked")
	b.at("#/search?q=xyzzyplugh")
	b.reads("No results. Try other words")
}

func TestSlider(t *testing.T) {
	b := inside(t, demo(t))
	b.wait("document.querySelector('#when')")
	b.click(".when button", "◀")
	b.wait("location.hash.includes('at=')")
	b.reads("Back to now", "Last changed")
	b.click(".when button", "◀")
	b.reads("217 memories")
	b.click(".when button", "Back to now")
	b.reads("218 memories")
}

func TestHistory(t *testing.T) {
	b := inside(t, demo(t))
	b.at("#/history")
	b.reads("The load test passed", "Winter berths open to all harbours", "main")
	b.shot("history")
	b.run(`document.querySelectorAll('input[name=from]')[1].click()`)
	b.run(`document.querySelectorAll('input[name=to]')[0].click()`)
	b.click("a", "Compare the two")
	b.reads("task/KM-452", "props.status")
	b.wait("document.querySelector('del') && document.querySelector('ins')")
	b.shot("diff")
	b.at("#/history")
	b.click(".log a", "Winter berths")
	b.reads("6 changed")
	b.shot("commit")
}

func TestSessions(t *testing.T) {
	b := inside(t, demo(t))
	b.at("#/sessions")
	b.reads("review", "winter launch")
	b.click("a", "review")
	b.reads("what blocks the winter launch?")
	b.click(".records summary", "2 memories returned")
	b.wait("document.querySelectorAll('.records details li a').length == 2")
	b.click("button", "Replay all")
	b.reads("Identical")
	b.shot("session")
}

func TestOperationsReadOnly(t *testing.T) {
	b := inside(t, demo(t))
	b.at("#/operations")
	b.reads("This page is read only", "commit --message")
	b.shot("operations")
	writers := "[...document.querySelectorAll('main button')].filter((e) => /Undo|Redo/.test(e.textContent)).length"
	if n := get[int](b, writers); n != 0 {
		t.Errorf("%d buttons that write", n)
	}
}

func TestUndo(t *testing.T) {
	m := demo(t)
	b := inside(t, m, "--write")
	b.at("#/operations")
	b.wait("![...document.querySelectorAll('button')].some((e) => e.textContent === 'Redo')") // nothing was undone
	b.click("li:nth-child(2) button", "Undo…")
	b.click("button.main", "Undo 8")
	b.reads("Operation 8 is undone.")
	b.wait("document.querySelector('li.undone')")
	if said := m.mnem("log", "-n", "1"); !strings.Contains(said, "Winter berths") {
		t.Errorf("log: %s", said)
	}
	b.click("button", "Redo")
	b.reads("The last undo is reverted.")
	if said := m.mnem("log", "-n", "1"); !strings.Contains(said, "load test") {
		t.Errorf("log: %s", said)
	}
}

func TestMarks(t *testing.T) {
	b := inside(t, demo(t), "--write")
	b.at("#/node/alice")
	b.reads("Alice Renfeld")
	b.click("summary", "Mark")
	b.click("button", "Forget")
	b.reads("This was marked forgotten")
	b.click("button", "Restore")
	b.wait("!document.body.innerText.includes('This was marked')")
}

func TestEmptyMemory(t *testing.T) {
	b := inside(t, empty(t))
	b.reads("This memory is empty")
	b.shot("empty")
	b.at("#/history")
	b.reads("No commits yet")
	b.at("#/sessions")
	b.reads("No sessions yet")
	b.at("#/operations")
	b.reads("Operations")
	b.at("#/nothing")
	b.reads("There is no page")
}

func TestLive(t *testing.T) {
	m := demo(t)
	b := inside(t, m)
	b.reads("218 memories")
	b.do(chromedp.SendKeys("#q", "half a quest"))
	m.mnem("remember", "Zoe keeps the lighthouse")
	b.reads("219 memories", "Zoe keeps the lighthouse")
	if v := get[string](b, "document.querySelector('#q').value"); v != "half a quest" {
		t.Errorf("the place was lost: %q", v)
	}
}

func TestHostileTexts(t *testing.T) {
	m := empty(t)
	m.mnem("remember", "--type", "Note", `<script>document.title='owned'</script>`+
		`<img src=x onerror="document.title='owned'"> javascript:alert(1)`)
	m.mnem("remember", "--type", "Note", "abc \u202edesrever\u2066 \u200b and {{7*7}} ${1} &lt;b&gt; markup")
	m.mnem("remember", "--type", "Note", "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd, "+
		"\u6e2f\u53e3\u7684\u51ac\u5b63\u6cca\u4f4d")
	b := inside(t, m)
	b.reads("<script>document.title='owned'</script>", "U+202E", "U+200B", "&lt;b&gt;", "\u6e2f\u53e3")
	b.shot("hostile")
	b.click("a", "<script>")
	b.wait("document.querySelector('h1') && document.querySelector('h1').textContent.includes('onerror')")
	if n := get[int](b, "document.querySelectorAll('main img, main script').length"); n != 0 {
		t.Errorf("%d elements came from texts", n)
	}
	if title := get[string](b, "document.title"); strings.Contains(title, "owned") {
		t.Error("a text ran")
	}
}

// TestEveryPage looks at each page on a telephone, a laptop and a wall, in light and in dark.
func TestEveryPage(t *testing.T) {
	m := demo(t)
	b := inside(t, m)
	pages := []struct{ name, at, ready string }{
		{"search", "#/search?q=why+was+it+delayed", "As prompt text"},
		{"browse", "#/browse?type=Person", "Person"},
		{"node", "#/node/alice", "Properties"},
		{"map", "#/map", "Parts"},
		{"graph", "#/graph/alice", "As a list"},
		{"history", "#/history", "The load test passed"},
		{"commit", "#/commit/HEAD", "The load test passed"},
		{"diff", "#/diff?a=HEAD~1&b=HEAD", "Save as HTML"},
		{"review", "#/review", "Contradictions and suggestions"},
		{"sessions", "#/sessions", "review"},
		{"session", "#/session/review", "Replay all"},
		{"operations", "#/operations", "commit"},
	}
	for _, look := range []struct {
		name          string
		width, height int64
		dark          bool
	}{
		{"narrow", 320, 640, false}, {"light", 1280, 900, false}, {"wide", 3840, 2160, false}, {"dark", 1280, 900, true},
	} {
		if look.dark {
			b.dark()
		}
		b.do(chromedp.EmulateViewport(look.width, look.height))
		for _, page := range pages {
			b.at(page.at)
			b.reads(page.ready)
			if over := get[int](b, "document.documentElement.scrollWidth - innerWidth"); over > 0 {
				t.Errorf("%s %s: %d pixels too wide", look.name, page.name, over)
			}
			b.shot(look.name + "-" + page.name)
		}
	}
}

func TestDark(t *testing.T) {
	b := inside(t, demo(t))
	b.dark()
	b.at("#/search?q=who+leads+infra")
	b.reads("As prompt text")
	if ground := get[string](b, "getComputedStyle(document.body).backgroundColor"); ground != "rgb(22, 24, 27)" {
		t.Errorf("background %s", ground)
	}
	b.shot("dark-search")
	b.at("#/history")
	b.reads("The load test passed")
	b.shot("dark-history")
}

// TestLongText shows a text of a megabyte in part, and the rest when it is asked for.
func TestLongText(t *testing.T) {
	m := empty(t)
	line := `{"node":{"key":"long","type":"Note","summary":"A long one","content":"` +
		strings.Repeat("<b>x</b> ", 116_000) + `"}}`
	if err := os.WriteFile(filepath.Join(m.dir, "long.jsonl"), []byte(line+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
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

// TestTwoTabs undoes in one tab a change that the other one shows.
func TestTwoTabs(t *testing.T) {
	m := demo(t)
	b := inside(t, m, "--write")
	b.at("#/operations")
	other := b.other()
	other.visit(strings.Split(m.url, "#")[0] + "#/history")
	other.reads("The load test passed")
	b.click("li:nth-child(2) button", "Undo…")
	b.click("button.main", "Undo 8")
	other.wait("!document.body.innerText.includes('The load test passed')")
	b.click("button", "Log out")
	b.reads("Login required")
}

// TestRefusedWrites marks a memory although its policy forbids it, and asks for a memory that does not exist.
func TestRefusedWrites(t *testing.T) {
	m := demo(t)
	policy := filepath.Join(m.dir, ".mnem", "policy.json")
	if err := os.WriteFile(policy, []byte(`{"version":1,"rules":[]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	b := inside(t, m, "--write")
	b.okay = []string{"400", "403", "404", "409", "422"}
	b.at("#/node/alice")
	b.click("summary", "Mark")
	b.click("button", "Forget")
	b.reads("policy")
	if said := m.mnem("show", "alice"); strings.Contains(said, "forgotten") {
		t.Errorf("%s", said)
	}
	b.at("#/node/nothing-of-this-name")
	b.reads("nothing-of-this-name")
}

// TestManyTabs opens more tabs than a browser has connections to one server: all get the events.
func TestManyTabs(t *testing.T) {
	m := demo(t)
	first := inside(t, m)
	var all []*tab
	for range 8 {
		b := first.other()
		b.visit(strings.Split(m.url, "#")[0])
		b.reads("218 memories")
		all = append(all, b)
	}
	m.mnem("remember", "Zoe keeps the lighthouse")
	for _, b := range append(all, first) {
		b.reads("219 memories")
	}
}

// TestKeyboard reaches the content and the filters without a mouse.
func TestKeyboard(t *testing.T) {
	m := demo(t)
	first := inside(t, m)
	first.reads("Last changed")
	if id := get[string](first, "document.activeElement.id"); id != "q" {
		t.Errorf("first is %q", id)
	}
	b := first.other()
	b.visit(strings.Split(m.url, "#")[0] + "#/sessions")
	b.reads("winter launch")
	b.do(chromedp.KeyEvent("\t"))
	if text := get[string](b, "document.activeElement.textContent"); text != "To the content" {
		t.Errorf("first is %q", text)
	}
	b.do(chromedp.KeyEvent("\r"))
	b.wait("document.activeElement.id === 'main'")
	b.at("#/history")
	b.wait("document.activeElement.id === 'main'")
}

// TestAccessible checks every page with axe-core; AXE names its file.
func TestAccessible(t *testing.T) {
	path := os.Getenv("AXE")
	if path == "" {
		t.Skip("AXE names no axe.min.js")
	}
	axe, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b := inside(t, everywhere(t), "--write")
	for i, page := range []struct{ at, ready string }{
		{"#/", "Last changed"}, {"#/node/guide", "four"}, {"#/map", "Parts"}, {"#/commit/HEAD", "Save as HTML"}, {"#/search?q=who+leads+infra&type=Person", "As prompt text"},
		{"#/node/doc%2Fpm-double-charge", "Properties"}, {"#/history", "The load test passed"},
		{"#/diff?a=HEAD~5&b=HEAD~4", "props.status"}, {"#/sessions", "review"}, {"#/session/review", "Replay"},
		{"#/operations", "commit --message"}, {"#/review", "Both are true"}, {"#/graph", "or with a community"},
		{"#/graph/alice", "As a list"}, {"#/browse?type=Person", "Alice"},
		{"#/?menu", "Last changed"},
		{"#/nothing", "There is no page"},
	} {
		if i == 8 {
			b.dark()
		}
		b.at(page.at)
		b.reads(page.ready)
		if page.at == "#/?menu" {
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
			t.Errorf("%s: %s", page.at, said)
		}
	}
}

package journeys

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// named returns the id of the memory that has a summary.
func (m *memory) named(summary string) string {
	m.t.Helper()
	var list struct {
		Nodes []struct{ ID, Summary string }
	}
	if err := json.Unmarshal([]byte(m.mnem("ls", "--json")), &list); err != nil {
		m.t.Fatal(err)
	}
	for _, n := range list.Nodes {
		if n.Summary == summary {
			return n.ID
		}
	}
	m.t.Fatalf("no memory %q", summary)
	return ""
}

// TestCopyAsPrompt copies the text that an agent would get, item by item.
func TestCopyAsPrompt(t *testing.T) {
	b := inside(t, demo(t))
	b.at("#/search?q=who+leads+infra&limit=3")
	b.wait("document.querySelectorAll('.card').length === 3")
	b.run("navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); }")
	b.click("button", "Copy as prompt text")
	b.reads("Copied")
	shown := get[string](b, "[...document.querySelectorAll('.card pre')].map((e) => e.textContent).join('')")
	if copied := get[string](b, "copied"); copied != shown || copied == "" {
		t.Errorf("copied %q, shown %q", copied, shown)
	}
}

// TestBudget gives a question few tokens: items that do not fit are named.
func TestBudget(t *testing.T) {
	b := inside(t, demo(t))
	b.at("#/search?q=winter+launch&limit=20")
	b.wait("document.querySelectorAll('.card').length > 2")
	many := get[int](b, "document.querySelectorAll('.card').length")
	b.click("summary", "Filters")
	b.run("document.querySelector('[name=budget]').value = '120'")
	b.click("button", "Ask")
	b.wait("location.hash.includes('budget=120')")
	b.reads("of 120 tokens", "Filters (2)")
	if few := get[int](b, "document.querySelectorAll('.card').length"); few == 0 || few >= many {
		t.Errorf("%d items, %d with more tokens", few, many)
	}
	b.click(".how summary", "How it was found")
	b.reads("Dropped", "budget")
}

// TestCues finds a memory by words that it does not have, and says which cues it has.
func TestCues(t *testing.T) {
	m := small(t)
	m.mnem("remember", "--type", "Note", "--cue", "who repairs broken windows", "Vera is the glazier of the harbour")
	b := inside(t, m)
	b.at("#/search?q=who+repairs+windows")
	b.reads("Vera is the glazier")
	b.click(".card summary", "Why")
	b.reads("Cues", "who repairs broken windows")
	b.click(".card h2 a", "Vera")
	b.reads("cues", "who repairs broken windows")
}

// TestNodeHistory shows what each commit did to a memory, whose value it was, and the block itself.
func TestNodeHistory(t *testing.T) {
	m := empty(t)
	m.mnem("add", "--set", "zoe", "--type", "Person", "summary=Zoe keeps the lighthouse", "shift=night")
	m.mnem("commit", "-m", "first words", "--agent", "bot")
	m.mnem("add", "--set", "zoe", "shift=day", "summary=Zoe keeps the old lighthouse")
	m.mnem("commit", "-m", "second words")
	b := inside(t, m)
	b.at("#/node/zoe")
	b.reads("shift", "day", "first words", "second words")
	b.click(".past summary", "second words")
	b.reads("changed", "props.shift")
	b.wait("document.querySelector('.past del').textContent === 'night' || " +
		"[...document.querySelectorAll('.past ins')].some((e) => e.textContent === 'old ')")
	b.click("summary", "Stored block")
	b.wait("[...document.querySelectorAll('pre')].some((e) => e.textContent.includes('\"shift\": \"day\"'))")
	b.click(".past summary", "first words")
	b.click(".past:last-child a", "This memory at that commit")
	b.reads("Back to now")
	b.wait("document.querySelector('h1').textContent === 'Zoe keeps the lighthouse'")
	b.wait("[...document.querySelectorAll('.props dd a')].some((e) => e.textContent.includes('bot'))")
	b.click(".props dd a", "bot")
	b.wait("document.querySelector('h1').textContent === 'first words'")
}

// TestSearchInThePast asks as of a commit that did not know the answer yet.
func TestSearchInThePast(t *testing.T) {
	m := small(t)
	b := inside(t, m)
	b.at("#/search?q=who+keeps+the+lighthouse")
	b.reads("Zoe keeps the lighthouse")
	m.mnem("forget", m.named("Zoe keeps the lighthouse"))
	b.wait("!document.querySelector('.card h2') || !document.querySelector('.cards').innerText.includes('Zoe keeps')")
	b.click(".when button", "◀")
	b.reads("Back to now", "Zoe keeps the lighthouse")
	b.run("history.back()")
	b.wait("!location.hash.includes('at=')")
	b.wait("!document.querySelector('.card h2') || !document.querySelector('.cards').innerText.includes('Zoe keeps')")
}

// TestBranches draws two branches and the merge of them.
func TestBranches(t *testing.T) {
	m := small(t)
	m.mnem("switch", "-c", "draft")
	m.mnem("remember", "--type", "Note", "Vera paints signs")
	m.mnem("switch", "main")
	m.mnem("remember", "--type", "Note", "Ugo counts boats")
	b := inside(t, m)
	b.at("#/history")
	b.reads("draft", "main")
	lanes := "new Set([...document.querySelectorAll('.lanes circle')].map((e) => e.getAttribute('cx'))).size"
	b.wait(lanes + " === 2")
	m.mnem("merge", "draft", "-m", "both notes")
	b.reads("both notes")
	b.wait("document.querySelectorAll('.log > li').length === 6 && " + lanes + " === 2")
	b.shot("branches")
}

// TestCompareBackwards compares two commits both ways.
func TestCompareBackwards(t *testing.T) {
	b := inside(t, small(t))
	b.at("#/diff?a=HEAD~1&b=HEAD")
	b.reads("Xenia sells the catch", "added")
	b.click("a", "Swap")
	b.wait("location.hash.includes('a=HEAD&')")
	b.reads("removed")
	b.at("#/diff?a=HEAD&b=HEAD")
	b.reads("No differences.")
	b.okay = []string{"404"}
	b.at("#/diff?a=nothing&b=HEAD")
	b.wait("document.querySelector('[role=alert]').innerText.includes('nothing')")
}

// TestReplayPurged purges a node of an answer: the replay reports it.
func TestReplayPurged(t *testing.T) {
	m := small(t)
	m.mnem("session", "start", "night")
	m.mnem("retrieve", "--session", "night", "who keeps the lighthouse")
	b := inside(t, m)
	b.okay = []string{"409"} // how a replay that differs is answered
	b.at("#/session/night")
	b.click("button", "Replay all")
	b.reads("Identical")
	b.at("#/")
	m.mnem("purge", m.named("Zoe keeps the lighthouse"), "--yes")
	b.reads("2 memories")
	b.at("#/session/night")
	b.click("button", "Replay all")
	b.reads("Not replayed: 1 of what it needs was purged since.")
}

// TestBrowse goes through the memories of a type, part by part.
func TestBrowse(t *testing.T) {
	b := inside(t, demo(t))
	b.click(".types a", "Turn")
	b.wait("document.querySelectorAll('.rows li').length > 0")
	first := get[string](b, "document.querySelector('.rows a').href")
	b.at("#/browse")
	b.wait("document.querySelectorAll('.rows li').length === 50")
	b.click("a", "More")
	b.wait("location.hash.includes('after=')")
	b.wait("document.querySelectorAll('.rows li').length === 50")
	b.click("a", "From the beginning")
	b.wait("!location.hash.includes('after=')")
	if !strings.Contains(first, "#/node/") {
		t.Errorf("first is %q", first)
	}
}

// TestDirections shows Hebrew from right to left next to English, and divides Chinese by character in a difference.
func TestDirections(t *testing.T) {
	m := empty(t)
	m.mnem("add", "--set", "he", "--type", "Note", "summary=\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd",
		"content=\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd")
	m.mnem("add", "--set", "zh", "--type", "Note", "summary=\u6e2f\u53e3\u7684\u51ac\u5b63\u6cca\u4f4d")
	m.mnem("commit", "-m", "texts")
	m.mnem("add", "--set", "zh", "summary=\u6e2f\u53e3\u7684\u590f\u5b63\u6cca\u4f4d")
	m.mnem("commit", "-m", "summer")
	b := inside(t, m)
	b.at("#/node/he")
	b.wait("getComputedStyle(document.querySelector('h1 bdi')).direction === 'rtl'")
	b.wait("getComputedStyle(document.querySelector('div.text')).direction === 'rtl'")
	b.wait("getComputedStyle(document.querySelector('h2')).direction === 'ltr'")
	b.shot("rtl")
	b.at("#/diff?a=HEAD~1&b=HEAD")
	b.wait("document.querySelector('del')?.textContent === '\u51ac' && document.querySelector('ins').textContent === '\u590f'")
}

// TestTokenWrites logs in with a token that may write, and with one that was revoked.
func TestTokenWrites(t *testing.T) {
	m := demo(t)
	token := strings.TrimSpace(strings.Split(m.mnem("serve", "token", "new", "desk", "--scope", "write", "--quiet"), "\n")[0])
	m.serve("serve", "--need-token", "--addr", "127.0.0.1:0")
	b := open(t)
	b.okay = []string{"401"}
	b.visit(m.url)
	b.do(chromedp.SendKeys("input[name=token]", token+"\r"))
	b.reads("desk", "read and write")
	b.at("#/node/alice")
	b.click("summary", "Mark")
	b.run("((e) => { e.value = 'moved away'; e.dispatchEvent(new Event('input', {bubbles: true})); })" +
		"(document.querySelector('.marks input'))")
	b.click("button", "Retire")
	b.reads("This was marked retired", "moved away")
	m.mnem("serve", "token", "revoke", "desk")
	b.at("#/history")
	b.reads("enter a token")
}

// TestLiveKeepsThePlace reads on while memories are added: open items stay open, and nothing moves.
func TestLiveKeepsThePlace(t *testing.T) {
	m := demo(t)
	b := inside(t, m)
	b.at("#/search?q=who+leads+infra&floor=rest")
	b.wait("document.querySelectorAll('.card').length > 5")
	// Cards grow until their nodes have arrived, each by its own request.
	b.wait("[...document.querySelectorAll('.card')].every((c) => c.querySelector('header time'))")
	b.run("document.querySelectorAll('.card details')[2].open = true")
	b.wait("scrollTo(0, 300), scrollY > 200")
	b.run("window.kept = document.querySelectorAll('.card details')[2]; window.top1 = kept.getBoundingClientRect().top")
	m.mnem("remember", "Zoe keeps the lighthouse")
	other := b.other()
	other.visit(strings.Split(m.url, "#")[0])
	other.reads("219 memories") // the first tab got the event before this one read
	b.wait("kept.isConnected && kept.open && Math.abs(kept.getBoundingClientRect().top - top1) < 60")
}

// TestCommitReport keeps a commit as a file without code.
func TestCommitReport(t *testing.T) {
	b := inside(t, small(t))
	b.at("#/history")
	b.click(".log a", "")
	b.reads("Xenia sells the catch")
	b.run(keep)
	b.click("button", "Save as HTML")
	text := b.file(1)
	for _, want := range []string{"Xenia sells the catch", "default-src 'none'", "<style>"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %.500s", want, text)
		}
	}
	if strings.Contains(text, "<script") || strings.Contains(text, "<button") || strings.Contains(text, "href=") {
		t.Errorf("%.2000s", text)
	}
}

// TestMap goes down from the whole memory to a memory, and sees what changed since a commit.
func TestMap(t *testing.T) {
	m := demo(t)
	b := inside(t, m)
	b.at("#/map")
	b.reads("The whole memory", "218 memories", "Parts", "Memories here")
	b.shot("map")
	b.click(".rows a", "") // a part by its title
	b.reads("scope", "The whole memory ›")
	b.click(".digest a", "")
	b.reads("Properties")
	m.mnem("remember", "Zoe keeps the lighthouse")
	b.at("#/map")
	b.reads("219 memories")
	b.wait("document.querySelector('select').options.length > 1") // the commits come by a request of their own
	b.run("{const s = document.querySelector('select'); s.value = s.options[1].value; " +
		"s.dispatchEvent(new Event('change', {bubbles: true}))}")
	b.reads("1 came, 0 changed, 0 went", "Zoe keeps the lighthouse")
	b.shot("map-since")
	b.click(".rows a", "Zoe keeps")
	b.reads("Properties")
}

// TestMapOfNothing has nothing to show, of a memory and of a name.
func TestMapOfNothing(t *testing.T) {
	b := inside(t, empty(t))
	b.at("#/map")
	b.reads("Nothing to summarise yet")
	b.okay = []string{"404"}
	b.at("#/map/root%2Fffff")
	b.wait("document.querySelector('main [role=alert]')")
}

// TestAltitude answers with summaries where memories do not fit.
func TestAltitude(t *testing.T) {
	b := inside(t, demo(t))
	b.at("#/search?q=who+is+on+call+at+night&altitude=scope&budget=300&floor=rest")
	b.wait("document.querySelector('[aria-label=Summaries] .card')")
	b.reads("summary", "of them found")
	if v := get[string](b, "document.querySelector('[name=altitude]').value"); v != "scope" {
		t.Errorf("altitude %q", v)
	}
	b.shot("altitude")
	b.click("[aria-label=Summaries] h2 a", "")
	b.reads("Memories here")
}

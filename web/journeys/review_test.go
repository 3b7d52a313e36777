package journeys

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// press clicks a button in the list item that has a text.
func (b *tab) press(item, button string) {
	b.t.Helper()
	b.wait(`((e) => e && !e.disabled && (e.click(), true))([...document.querySelectorAll('.reviews > li')]` +
		`.filter((e) => e.textContent.includes(` + quoted(item) + `)).flatMap((e) => [...e.querySelectorAll('button')])` +
		`.find((e) => e.textContent === ` + quoted(button) + `))`)
}

func quoted(s string) string { return `'` + strings.ReplaceAll(s, `'`, `\'`) + `'` }

// small is a memory of three sentences.
func small(t *testing.T) *memory {
	t.Helper()
	m := empty(t)
	for _, text := range []string{"Zoe keeps the lighthouse", "Yuri mends the nets", "Xenia sells the catch"} {
		m.mnem("remember", "--type", "Note", text)
	}
	return m
}

// TestReview keeps, edits and forgets new memories in one commit, which undo takes back.
func TestReview(t *testing.T) {
	m := small(t)
	b := inside(t, m, "--write")
	b.click("nav a", "Review")
	b.reads("New since the last review", "3 to review", "Apply 0")
	b.press("Zoe", "Keep")
	b.press("Yuri", "Edit")
	b.run(`(() => { const e = document.querySelector('textarea'); e.value = 'Yuri mends nets and sails';
		e.dispatchEvent(new Event('input', {bubbles: true})); })()`)
	b.press("Xenia", "Forget")
	b.shot("review")
	b.click("button", "Apply 3")
	b.reads("Applied in one commit.", "Everything is reviewed")
	said := m.mnem("ls", "--type", "Note", "--include", "forgotten")
	for _, want := range []string{"Yuri mends nets and sails", "forgotten"} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in %s", want, said)
		}
	}
	b.click("a", "Undo in Operations")
	b.reads("review")
	b.click("li:first-child button", "Undo…")
	b.click("button.main", "Undo 5")
	b.reads("Operation 5 is undone")
	if said := m.mnem("ls", "--type", "Note"); !strings.Contains(said, "Yuri mends the nets") ||
		!strings.Contains(said, "Xenia") {
		t.Errorf("%s", said)
	}
}

// TestReviewRest keeps all that was listed, and shows what comes later as it comes.
func TestReviewRest(t *testing.T) {
	m := small(t)
	b := inside(t, m, "--write")
	b.at("#/review")
	b.reads("3 to review")
	b.press("Yuri", "Forget")
	b.press("Yuri", "Forget") // a second press takes the choice back
	b.click("label", "Keep all the others")
	b.click("button", "Apply to all 3")
	b.reads("Everything is reviewed")
	if said := m.mnem("ls", "--type", "Note"); strings.Count(said, "Note") != 3 {
		t.Errorf("%s", said)
	}
	m.mnem("remember", "--type", "Note", "Walter paints boats")
	b.reads("1 to review", "Walter paints boats")
}

// TestReviewReadOnly lists without any way to decide.
func TestReviewReadOnly(t *testing.T) {
	b := inside(t, small(t))
	b.at("#/review")
	b.reads("This page is read only", "3 to review", "No contradictions")
	if n := get[int](b, "document.querySelectorAll('main .reviews button, main button.main').length"); n != 0 {
		t.Errorf("%d buttons that write", n)
	}
}

// TestSuggestions applies one proposal of consolidate and declines another one.
func TestSuggestions(t *testing.T) {
	m := small(t)
	m.mnem("add", "--set", "hold", "--type", "Rule", "summary=Berths are held for a day", "validTo=2020-01-01")
	m.mnem("add", "--set", "fee", "--type", "Rule", "summary=Moorings cost ten crowns", "validTo=2020-01-01")
	m.mnem("commit", "-m", "rules")
	b := inside(t, m, "--write")
	b.at("#/review")
	b.reads("hold", "fee", "Its validity has ended")
	b.press("hold", "Apply")
	b.reads("Applied.")
	b.press("fee", "Decline")
	b.reads("Declined", "No contradictions")
	said := m.mnem("ls", "--type", "Rule", "--include", "expired")
	if strings.Count(said, "expired") != 1 {
		t.Errorf("%s", said)
	}
}

// conflict leaves a merge of two branches that both changed one node.
func conflict(t *testing.T) *memory {
	t.Helper()
	m := empty(t)
	m.mnem("add", "--set", "zoe", "--type", "Person", "summary=Zoe keeps the lighthouse")
	m.mnem("commit", "-m", "begin")
	m.mnem("switch", "-c", "draft")
	m.mnem("add", "--set", "zoe", "summary=Zoe keeps the harbour")
	m.mnem("commit", "-m", "draft")
	m.mnem("switch", "main")
	m.mnem("add", "--set", "zoe", "summary=Zoe keeps the ferry")
	m.mnem("commit", "-m", "main")
	cmd := exec.CommandContext(t.Context(), program, "merge", "draft")
	cmd.Dir = m.dir
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatalf("no conflict: %s", out)
	}
	return m
}

// TestMergeConflict resolves a conflict and finishes the merge.
func TestMergeConflict(t *testing.T) {
	m := conflict(t)
	b := inside(t, m, "--write")
	b.at("#/review")
	b.reads("Conflicts of a merge on main", "1 to resolve", "Zoe keeps the ferry", "Zoe keeps the harbour")
	b.wait("[...document.querySelectorAll('button')].find((e) => e.textContent.startsWith('Finish')).disabled")
	b.shot("conflict")
	b.press("zoe", "The other")
	b.reads("All are resolved")
	b.click("button", "Finish the merge")
	b.reads("The merge is committed.")
	if said := m.mnem("show", "zoe"); !strings.Contains(said, "Zoe keeps the harbour") {
		t.Errorf("%s", said)
	}
}

// TestMergeRead shows a reader the conflict, and nothing to decide it with.
func TestMergeRead(t *testing.T) {
	b := inside(t, conflict(t))
	b.at("#/review")
	b.reads("Conflicts of a merge on main", "Zoe keeps the ferry", "Zoe keeps the harbour")
	if n := get[int](b, "document.querySelectorAll('[aria-labelledby=merge] button').length"); n != 0 {
		t.Errorf("%d buttons", n)
	}
}

// TestMergeAborted gives a merge up: the branch stays as it was.
func TestMergeAborted(t *testing.T) {
	m := conflict(t)
	b := inside(t, m, "--write")
	b.at("#/review")
	b.click("button", "Abort…")
	b.click("button", "No")
	b.click("button", "Abort…")
	b.click("button", "Abort the merge")
	b.reads("The merge is aborted")
	b.wait("!document.body.innerText.includes('Conflicts of a merge')")
	if said := m.mnem("show", "zoe"); !strings.Contains(said, "Zoe keeps the ferry") {
		t.Errorf("%s", said)
	}
}

// told leaves a memory with an erasure that its remote reports.
func told(t *testing.T) *memory {
	t.Helper()
	m := empty(t)
	m.mnem("add", "--set", "secret", "--type", "Note", "summary=The word is heron")
	m.mnem("commit", "-m", "begin")
	there := &memory{t: t, dir: filepath.Join(m.dir, "there")}
	m.mnem("clone", ".", there.dir)
	m.mnem("remote", "add", "origin", there.dir)
	there.mnem("purge", "secret", "--yes", "--reason", "asked for")
	m.mnem("fetch")
	return m
}

// TestQuarantine rejects an erasure that a remote reports. It cannot be accepted without the scope admin.
func TestQuarantine(t *testing.T) {
	m := told(t)
	b := inside(t, m, "--write")
	b.at("#/review")
	b.reads("Erased elsewhere", "asked for", "unsigned", "at origin", "scope admin")
	b.shot("quarantine")
	b.wait("[...document.querySelectorAll('button')].every((e) => !e.textContent.startsWith('Accept'))")
	b.click("[aria-labelledby=erased] button", "Reject")
	b.reads("Rejected: it stays here.")
	b.wait("!document.body.innerText.includes('Erased elsewhere')")
	if said := m.mnem("show", "secret"); !strings.Contains(said, "heron") {
		t.Errorf("%s", said)
	}
}

package sharing_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// What a machine did since both were at the same.
const (
	didNothing = "nothing"
	didAdd     = "adds"    // a node of its own
	didChange  = "changes" // the node that both have
	didSame    = "same"    // likewise, as the other machine
	didRemove  = "removes" // the node that both have
)

// touched returns the summary that a machine leaves of the node that both have, "" if it is removed, and whether
// it touched it.
func touched(machine, did string) (summary string, ok bool) {
	switch did {
	case didChange:
		return "of " + machine, true
	case didSame:
		return "of both", true
	case didRemove:
		return "", true
	}
	return "first", false
}

// meeting is one way in which what two machines did meets: a pushes first, and b syncs by a rule.
func meeting(a, b, rule string) scenario {
	name := fmt.Sprintf("a %s b %s", a, b)
	if rule != "newest" {
		name += " " + rule
	}
	return scenario{name: name, do: func(w *team) {
		w.env["SOURCE_DATE_EPOCH"] = "1700000000"
		w.add("hub", "n", "first")
		w.clones("a", "b")
		w.env["SOURCE_DATE_EPOCH"] = "1700000100"
		w.does("a", a)
		w.env["SOURCE_DATE_EPOCH"] = "1700000200"
		w.does("b", b)
		w.ok("a", "push")
		w.ok("b", "sync", "--conflicts", rule)
		w.ok("a", "sync")
		w.same("main", "a", "b", "hub")
		ofA, changedA := touched("a", a)
		want, changedB := touched("b", b)
		if !changedB || rule == "theirs" && changedA {
			want = ofA
		}
		for _, m := range []string{"a", "b"} {
			if want == "" {
				w.refused(3, "", m, "show", "n")
			} else if got := w.summary(m, "n"); got != want {
				w.Errorf("%s has %q, want %q", m, got, want)
			}
			if a == didAdd && w.summary(m, "only-a") != "x" || b == didAdd && w.summary(m, "only-b") != "x" {
				w.Errorf("%s lacks what was added", m)
			}
		}
	}}
}

// does has a machine do something.
func (w *team) does(machine, did string) {
	w.Helper()
	switch summary, _ := touched(machine, did); did {
	case didAdd:
		w.add(machine, "only-"+machine, "x")
	case didChange, didSame:
		w.add(machine, "n", summary)
	case didRemove:
		w.run(0, machine, `{"remove":{"node":"n"}}`, "commit", "-m", "x", "-")
	}
}

// matrix is every way in which what two machines did can meet, and what is large.
func matrix() (list []scenario) {
	all := []string{didNothing, didAdd, didChange, didSame, didRemove}
	for _, a := range all {
		for _, b := range all {
			list = append(list, meeting(a, b, "newest"))
			ofA, changedA := touched("a", a)
			if ofB, changedB := touched("b", b); changedA && changedB && ofA != ofB {
				list = append(list, meeting(a, b, "ours"), meeting(a, b, "theirs"))
			}
		}
	}
	return append(list, special()...)
}

// special are scenarios of what is large.
func special() []scenario {
	return []scenario{
		{name: "many branches", do: func(w *team) {
			w.add("hub", "one", "x")
			w.clones("a", "b")
			for i := range 90 { // more than one request changes
				w.ok("a", "branch", fmt.Sprintf("b%d", i))
			}
			w.ok("a", "push", "--all")
			w.ok("b", "fetch")
			must.True(w, w.at("b", "refs/remotes/origin/heads/b89") != "", "a branch did not come")
		}},
		{name: "huge node", do: func(w *team) {
			w.clones("a")
			rnd := rand.New(rand.NewPCG(5, 5))
			file := filepath.Join(w.dir, "huge")
			line := `{"node":{"key":"huge","type":"N","summary":"x"}}` + "\n"
			for i := range 3 { // more than goes in one part
				line += fmt.Sprintf(`{"node":{"key":"part-%d","type":"N","content":%q}}`+"\n", i, noise(rnd, 3<<20))
			}
			must.OK(w, os.WriteFile(file, []byte(line), 0o600))
			w.ok("a", "commit", "-m", "huge", file)
			w.ok("a", "push")
			w.clones("b")
			w.same("main", "a", "b", "hub")
		}},
	}
}

package sharing_test

import "strings"

// sessionsMeet is a session that one machine has, that both have, that one is ahead in, and that both went on with.
func sessionsMeet() scenario {
	return scenario{name: "sessions", do: func(w *team) {
		w.add("hub", "one", "x")
		w.clones("a")
		w.ok("a", "session", "start", "work", "--follow")
		w.ok("a", "retrieve", "one", "--session", "work")
		w.ok("a", "sync")
		w.ok("b", "clone", w.url, ".", "--sessions")
		if got := w.ok("b", "session", "list"); got != "" {
			w.Errorf("sessions went without being asked for: %s", got)
		}
		w.ok("a", "sync", "--sessions")
		w.ok("b", "sync", "--sessions")
		w.sameSessions(w.at("a", "refs/sessions/work"), "a", "b")
		w.ok("b", "retrieve", "one", "--session", "work") // ahead
		w.ok("b", "sync", "--sessions")
		w.ok("a", "sync", "--sessions")
		w.sameSessions(w.at("b", "refs/sessions/work"), "a", "b")
		for _, m := range []string{"a", "b"} { // both go on
			w.ok(m, "retrieve", "x of "+m, "--session", "work")
		}
		ofA, ofB := w.at("a", "refs/sessions/work"), w.at("b", "refs/sessions/work")
		w.ok("a", "push", "--sessions")
		w.ok("b", "sync", "--sessions")
		w.ok("a", "fetch", "--sessions")
		if w.at("a", "refs/sessions/work") != ofA || w.at("b", "refs/sessions/work") != ofB {
			w.Error("a machine's own session was moved")
		}
		besideA, besideB := "work."+ofA, "work."+ofB
		if w.at("a", "refs/sessions/"+besideB) != ofB || w.at("b", "refs/sessions/"+besideA) != ofA {
			w.Errorf("the other one's session is missing: %s%s", w.ok("a", "session", "list"), w.ok("b", "session", "list"))
		}
		w.ok("a", "session", "replay", besideB)
		w.ok("a", "session", "log", besideB)
		w.ok("c", "clone", w.url, ".", "--sessions")
		w.ok("c", "session", "replay", "work")
		w.ok("c", "session", "replay", besideB)
		if out := w.ok("a", "sync", "--sessions"); strings.Contains(out, "session ") {
			w.Errorf("a sync with nothing new: %s", out)
		}
	}}
}

// sameSessions checks that the session work of machines is at one record.
func (w *team) sameSessions(want string, machines ...string) {
	w.Helper()
	for _, m := range machines {
		if got := w.at(m, "refs/sessions/work"); got != want || got == "" {
			w.Errorf("the session of %s is at %q, want %q", m, got, want)
		}
	}
}

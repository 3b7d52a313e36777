package remember

import (
	"strings"
	"testing"
)

// TestProposes holds what is proposed to be superseded, and why.
func TestProposes(t *testing.T) {
	about := func(text, subject string) Request { return Request{Text: text, About: subject} }
	for _, c := range []struct {
		name string
		reqs []Request
		want string // of the last one: the number of each that is proposed, and why
	}{
		{"another value", said("The cache keeps baskets for 14 days", "The cache keeps baskets for 30 days"),
			"0: it says the same with another number: 30, was 14"},
		{"a change", said("Checkout runs on servers of Hetzner in Falkenstein",
			"Checkout servers moved from Falkenstein to Frankfurt"),
			"0: both are about servers, checkout, falkenstein, and it tells of a change: moved"},
		{"no change told", said("Checkout runs on servers of Hetzner in Falkenstein",
			"Checkout servers stand in Frankfurt near Falkenstein street"), ""},
		{"another subject", said("Checkout runs on servers of Hetzner", "Invoices are printed in Lyon now"), ""},
		{"one word in common", said("Checkout runs on servers of Hetzner", "Checkout has blue buttons now"), ""},
		{"the same in another unit", said("TTL 5 minutes", "TTL 300 seconds"), ""},
		{"subjects apart", []Request{about("Works at Initech in Bonn", "alice"),
			about("Works at Initech in Bonn no longer now, at Globex instead", "bob")}, ""},
		{"in German", said("Die Rechnungen liegen auf dem Server Alpha", "Die Rechnungen liegen jetzt auf dem Server Beta"),
			"0: both are about auf, dem, die, liegen, and it tells of a change: jetzt"},
		{"done by the call", []Request{{Text: "Alice works at Initech in Bonn", About: "alice", Property: "employer"},
			{Text: "Alice works at Globex in Bonn now", About: "alice", Property: "employer"}}, ""},
		{"not looked for", append(said("The cache keeps baskets for 14 days"),
			Request{Text: "The cache keeps baskets for 30 days", NoDiff: true}), ""},
	} {
		for _, batch := range []bool{false, true} {
			m := newMemory(t)
			var list []Remembered
			if batch {
				res, err := m.RememberAll(t.Context(), rememberAt(0), c.reqs)
				if err != nil {
					t.Fatal(err)
				}
				list = res.Memories
			} else {
				list = keep(t, m, c.reqs...)
			}
			var got []string
			for _, r := range list[len(list)-1].Replaces {
				for i := range list {
					if list[i].ID == r.ID {
						got = append(got, string(rune('0'+i))+": "+r.Because)
					}
				}
				if r.Summary == "" {
					t.Errorf("%s: without its text", c.name)
				}
			}
			if all := strings.Join(got, " | "); all != c.want && (!batch || !strings.HasPrefix(all, c.want[:min(2, len(c.want))])) {
				t.Errorf("%s, batch %t: %q, want %q", c.name, batch, all, c.want)
			}
		}
	}
}

// TestProposesFew holds the bound, and that nothing is done about a proposal.
func TestProposesFew(t *testing.T) {
	m := newMemory(t)
	list := keep(t, m, said("Checkout servers of team red stand in Bonn", "Checkout servers of team blue stand in Lyon",
		"Checkout servers of team green stand in Bern", "Checkout servers of team grey stand in Rome",
		"Checkout servers of all teams stand in Oslo now")...)
	last := list[len(list)-1]
	if len(last.Replaces) != MaxReplaces || len(last.Superseded) > 0 || last.Action != Added {
		t.Errorf("%+v", last)
	}
}

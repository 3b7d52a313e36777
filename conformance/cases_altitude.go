package main

import (
	"fmt"
	"strings"
)

// altitudeCases are answers with digests: clause 29.6.
func altitudeCases(s *suite) {
	services := []string{`{"node":{"key":"a","type":"Service","summary":"The billing service."}}`,
		`{"node":{"key":"b","type":"Service","summary":"The mail service."}}`}
	of := func(i int) string { return []string{"a", "b", "a", ""}[i%4] }
	some := joinLines(services, notesOn(0, 40, of))
	many := joinLines(services, notesOn(0, 90, func(i int) string { return []string{"a", ""}[i%2] }))
	few := joinLines(services, notesOn(0, 6, of))
	hidden := joinLines(some, []string{`{"mark":{"node":"a","state":"retired"}}`})
	long := "The crane was built in 1911 by the harbour. " + strings.Repeat("It lifts the ledger and the refund of the tide. ", 40)
	crane := joinLines(services, notesOn(0, 20, of), []string{
		`{"node":{"key":"crane","type":"Note","summary":"` + long + `"}}`,
		`{"edge":{"type":"part-of","src":"crane","dst":"a"}}`})
	ask := func(text, altitude string, budget, limit int64) request {
		q := newRequest(text)
		q.ranking, q.altitude, q.budget, q.limit, q.expand, q.floor = 2, altitude, budget, limit, 0, "rest"
		return q
	}
	for i, c := range []struct {
		name, title string
		q           request
		lines       batchText
	}{
		{"scope", "digests in place of what does not fit", ask("harbour ledger", "scope", 300, 10), some},
		{"scope-fits", "where all fits there is none", ask("harbour ledger", "scope", 0, 0), some},
		{"scope-limit", "what a limit leaves out does not fit either", ask("harbour", "scope", 0, 2), some},
		{"scope-small", "half a budget that no digest fits into", ask("harbour ledger", "scope", 60, 10), some},
		{"root", "the digest of the whole comes first", ask("harbour ledger", "root", 900, 10), some},
		{"root-nothing", "it comes where nothing is found", ask("zeppelin", "root", 900, 10), some},
		{"auto-broad", "a text that asks broadly", ask("What do we know about the harbour?", "auto", 600, 10), some},
		{"auto-signs", "one with other signs between the words", ask("Harbour: give me an OVERVIEW!", "auto", 600, 10), some},
		{"auto-narrow", "one that does not", ask("harbour ledger", "auto", 600, 10), some},
		{"auto-part", "a phrase in the middle of a word", ask("overviews of harbour", "auto", 600, 10), some},
		{"auto-nothing", "the whole where nothing is found", ask("overview of zeppelins", "auto", 900, 10), some},
		{"clusters", "clusters below scopes", ask("summary of harbour refund ledger tide", "auto", 900, 10), many},
		{"root-all", "what the digest of the whole has is no item", ask("harbour ledger", "root", 700, 10), few},
		{"auto-all", "with nothing but the phrase the whole is asked for", ask("What do we know?", "auto", 900, 10), some},
		{"auto-part-fact", "a fact of which a digest has a part stays an item", ask("overview of the crane", "auto", 900, 10),
			crane},
		{"auto-scope", "a digest that answers tells of others below it", ask("Tell me about billing.", "auto", 900, 10), some},
		{"auto-key", "a scope that a mark hides has no key in its name", ask("Tell me about harbour and tide.", "auto", 900, 10),
			hidden},
		{"no-budget", "without a budget all digests fit", ask("overview harbour refund", "auto", 0, 5), many},
	} {
		q := c.q
		if i%2 == 1 {
			q.floor = ""
		}
		s.retrieval("29.6", "pack", "altitude-"+c.name, c.title, q, true, c.lines)
	}
	for _, n := range []int64{0, 1} {
		a := ask("harbour ledger", "root", 100000, 1).retrieve(built(some))
		q := ask("harbour ledger", "root", 2*(a.digests[0].tokens-n), 1)
		s.retrieval("29.6", "pack", fmt.Sprintf("altitude-exact-%d", n), "half a budget of its tokens, less a little", q,
			true, some)
	}
}

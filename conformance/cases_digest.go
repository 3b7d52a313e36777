package main

import "fmt"

// notesOn are lines of notes, some of them in scopes.
func notesOn(from, to int, scope func(int) string) []string {
	words := []string{"harbour", "refund", "ledger", "gateway", "tide", "invoice", "winter", "mooring", "cluster", "token",
		"deploy", "rollback", "guest"}
	var out []string
	for i := from; i < to; i++ {
		s := fmt.Sprintf("The %s of the %s was %s on %d May.", words[i*7%13], words[i*i%11], words[(i*5+i/13)%13], i%31)
		if i%3 == 0 {
			s += fmt.Sprintf(" It is not the %s, and never %d.", words[i%13], i*17%101)
		}
		out = append(out, fmt.Sprintf(`{"node":{"key":"m%d","type":"Note","summary":%q}}`, i, s))
		if to := scope(i); to != "" {
			out = append(out, fmt.Sprintf(`{"edge":{"type":"about","src":"m%d","dst":%q}}`, i, to))
		}
	}
	return out
}

func insideOf(typ, a, b string) string {
	return fmt.Sprintf(`{"edge":{"type":%q,"src":%q,"dst":%q}}`, typ, a, b)
}

func digestCases(s *suite) {
	for name, in := range map[string]string{
		"empty": "", "word": "harbour", "sentence": "The refund of invoice 99 failed on 3 May.",
		"alike": "The refund of invoice 98 failed on 3 May.", "other-script": "王小明先生 café Ärger",
	} {
		s.add("29.2", "sem", "sem-"+name, "the hash of a text", obj{"text": in}, obj{"sem": fmt.Sprintf("%016x", semOf(in))})
	}
	add := func(clause, name, title string, batches ...batchText) {
		list := []any{}
		for i, lines := range batches {
			list = append(list, obj{"time": t0 + int64(i)*1_000_000, "lines": lines})
		}
		d := digestsOf(built(batches...))
		rec, root := d.digest("")
		expect := obj{"root": nil, "scopes": obj{}}
		if rec != nil {
			expect["root"], expect["record"] = root.String(), hx(encode(rec))
		}
		for id, c := range d.links {
			expect["scopes"].(obj)[uuid(id)] = c.String()
		}
		s.add(clause, "digest", name, title, obj{"author": "erin", "batches": list}, expect)
	}
	services := []string{`{"node":{"key":"a","type":"Service","summary":"The billing service."}}`,
		`{"node":{"key":"b","type":"Service","summary":"The mail service."}}`,
		`{"node":{"key":"c","type":"Team","summary":"The team that owns both."}}`}
	loose := func(int) string { return "" }
	of := func(i int) string { return []string{"a", "b", "", ""}[i%4] }
	add("29.4", "digest-one", "one fact", joinLines(notesOn(0, 1, loose)))
	add("29.4", "digest-leaf", "a leaf in the order of keys", joinLines(notesOn(0, 12, loose)))
	add("29.3", "digest-split", "more than a leaf holds", joinLines(notesOn(0, 80, loose)))
	add("29.1", "digest-scopes", "scopes within a scope, and facts in none", joinLines(services, notesOn(0, 60, of),
		[]string{insideOf("part-of", "a", "c"), insideOf("in", "b", "c")}))
	add("29.1", "digest-two-homes", "a fact in two scopes counts in that of the first rule", joinLines(services, notesOn(0, 8, of),
		[]string{insideOf("part-of", "m0", "b"), insideOf("about", "m1", "a")}))
	add("29.1", "digest-circle", "scopes in each other are one", joinLines(services, notesOn(0, 12, of),
		[]string{insideOf("part-of", "a", "c"), insideOf("part-of", "c", "b"), insideOf("in", "b", "a")}))
	add("29.1", "digest-hidden", "what marks hide is in none, and a hidden scope stays", joinLines(services, notesOn(0, 12, of)),
		[]string{`{"mark":{"node":"m4","state":"retired"}}`, `{"mark":{"node":"a","state":"forgotten"}}`})
	add("29.4", "digest-until", "the earliest end of validity", joinLines(services, notesOn(0, 8, of),
		[]string{`{"node":{"key":"m1","type":"Note","summary":"It holds until May.","validTo":"2027-05-01T00:00:00Z"}}`}))
	add("29.3", "digest-equal", "equal texts are told apart by their ids", func() batchText {
		var out batchText
		for i := range 40 {
			out = append(out, fmt.Sprintf(`{"node":{"key":"e%d","type":"Note","summary":"The same words."}}`, i))
		}
		return out
	}())
	long := ""
	for i := range 90 {
		long += fmt.Sprintf("and then the %d guests of winter did not leave the Harbour of Genoa ", i)
	}
	add("29.5", "digest-long", "a long sentence is cut beside plain words",
		batchText{fmt.Sprintf(`{"node":{"key":"l","type":"Note","context":"A story.","content":%q}}`, long+".")})
}

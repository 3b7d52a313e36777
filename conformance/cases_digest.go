package main

import (
	"crypto/sha256"
	"fmt"
)

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
	writtenCases(s)
	long := ""
	for i := range 90 {
		long += fmt.Sprintf("and then the %d guests of winter did not leave the Harbour of Genoa ", i)
	}
	add("29.5", "digest-long", "a long sentence is cut beside plain words",
		batchText{fmt.Sprintf(`{"node":{"key":"l","type":"Note","context":"A story.","content":%q}}`, long+".")})
}

// writtenCases are texts of digests that models wrote: clause 29.7.
func writtenCases(s *suite) {
	graph := recordCID(newStore().graphRecord())
	sum := sha256.Sum256([]byte("source"))
	base := dict{"kind": "written", "v": 1, "text": "Harbour operations.\nWho is on call.", "graph": []byte(graph)[4:],
		"model": "openai:m", "rules": []any{"edge:part-of", "edge:in", "edge:about"}, "scope": make([]byte, 16),
		"source": sum[:]}
	s.records("written", base, []recordCase{
		{"29.7", "root", "a text of the root", "", nil},
		{"29.7", "cluster", "a text of a cluster", "", dict{"label": "0123", "scope": []byte(nodeIDOfKey("alice"))}},
		{"29.7", "rules", "other rules", "", dict{"rules": []any{"prop:project", "type"}}},
		{"29.7", "rules-community", "communities", "", dict{"rules": []any{"community", "edge:in"}}},
		{"29.7", "rules-community-name", "a community with a name", "name", dict{"rules": []any{"community:x"}}},
		{"29.7", "unknown-field", "an unknown field survives", "", dict{"zeta": true}},
		{"29.7", "text-4096", "a text of 4,096 bytes", "", dict{"text": rep("t", 4096)}},
		{"29.7", "text-4097", "a text of 4,097 bytes", "limit", dict{"text": rep("t", 4097)}},
		{"29.7", "text-empty", "an empty text", "limit", dict{"text": ""}},
		{"29.7", "text-blank", "white space alone", "limit", dict{"text": " \n "}},
		{"29.7", "text-tab", "a tab in a text", "name", dict{"text": "a\tb"}},
		{"29.7", "text-missing", "no text", "field", dict{"text": absent{}}},
		{"29.7", "model-empty", "nothing that wrote it", "limit", dict{"model": ""}},
		{"29.7", "model-lf", "a line feed in the model", "name", dict{"model": "a\nb"}},
		{"29.7", "label-empty", "an empty label", "limit", dict{"label": ""}},
		{"29.7", "label-97", "a label of 97 digits", "limit", dict{"label": rep("3", 97)}},
		{"29.7", "label-4", "a label with another digit", "name", dict{"label": "014"}},
		{"29.7", "rules-none", "no rule", "limit", dict{"rules": []any{}}},
		{"29.7", "rules-twice", "a rule twice", "name", dict{"rules": []any{"type", "type"}}},
		{"29.7", "rules-other", "a rule of another kind", "name", dict{"rules": []any{"node:x"}}},
		{"29.7", "rules-missing", "no list of rules", "field", dict{"rules": absent{}}},
		{"29.7", "graph-cid", "a whole CID of a graph", "type", dict{"graph": []byte(graph)}},
		{"29.7", "graph-missing", "no graph", "field", dict{"graph": absent{}}},
		{"29.7", "scope-15", "a scope of 15 bytes", "id", dict{"scope": make([]byte, 15)}},
		{"29.7", "scope-missing", "no scope", "field", dict{"scope": absent{}}},
		{"29.7", "source-31", "a source of 31 bytes", "type", dict{"source": sum[:31]}},
		{"29.7", "source-missing", "no source", "field", dict{"source": absent{}}},
	})
}

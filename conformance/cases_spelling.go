package main

import (
	"fmt"
	"strings"
)

// jetty is a memory of words that are close to each other.
var jetty = batchText{
	`{"node":{"key":"a","type":"Place","summary":"Harbour","content":"The harbour has a lantern ` +
		`of constantinople."}}`,
	`{"node":{"key":"b","type":"Place","summary":"Harbour office","content":"Registers boats."}}`,
	`{"node":{"key":"c","type":"Note","summary":"A boat, a boar and a boas of лодка.",` +
		`"content":"The boat lies in the harbour."}}`,
	`{"node":{"key":"d","type":"Note","summary":"Lanterns and latterns: 東京港 v1234, mast, lamp lamh, skipperlabco",` +
		`"props":{"hull":"Größe"}}}`,
	`{"node":{"key":"harbxor","type":"Note","summary":"A note about the boar."}}`,
	`{"edge":{"type":"near","src":"a","dst":"b"}}`,
	`{"mark":{"node":"c","state":"retired"}}`,
}

func spellingCases(s *suite) {
	for _, c := range []struct{ name, title, text string }{
		{"swap", "neighbours swapped", "harbuor"},
		{"insert", "one more", "harboour"},
		{"delete", "one less", "harbor"},
		{"replace", "another", "harbxur"},
		{"first", "the first letter has to be the same", "garbour"},
		{"two", "two edits of fewer than eight letters", "lxntxrn"},
		{"eight", "two edits of eight letters", "conxtantixople"},
		{"three", "three edits of eight letters", "conxtxntixople"},
		{"no-place-twice", "a swap with something put between is three edits", "skipperlcao"},
		{"short", "three letters", "boa"},
		{"closer", "the closer one, however rare", "lattren"},
		{"more-nodes", "of equally close ones the one of more nodes", "boarx"},
		{"ties", "and then the bytewise first", "lamph"},
		{"four", "four letters: a swap, one more or one less, none replaced", "msat boast boax"},
		{"known", "a term that a node has stays", "boas boar"},
		{"asked", "what the text has already is no reading", "harbour harbuor"},
		{"alike", "two words are read alike, and both count", "harbuor harboor"},
		{"times", "a word twice", "harbuor office harbuor"},
		{"stems", "stems are compared", "harbuors registering"},
		{"folded", "what folds to letters", "grösze Harbuör"},
		{"cyrillic", "letters of another script with cases", "лодку"},
		{"digits", "words with digits and bigrams stay", "v1235 1234 東京湾"},
		{"parts", "a word and its parts", "HarbuorOfice"},
		{"stop-word", "what is close to a stop word is read as nothing", "whoso lanterm abuot"},
		{"apostrophe", "the word has what the term has lost", "harbuor's"},
		{"key", "the text is a key", "harbxor"},
		{"quoted", "the text has a key in quotes", "lanterm of \"harbxor\""},
		{"hidden", "what only hidden nodes have counts", "boat boatz лодkа лодки"},
	} {
		s.retrieval("9.10", "score", "spelling-"+c.name, c.title, everything(c.text), false, jetty)
	}
	off := everything("harbuor")
	off.spelling = "off"
	s.retrieval("9.10", "score", "spelling-off", "nothing is read otherwise", off, false, jetty)
	long := ""
	for i := range 20 {
		long += fmt.Sprintf("harb%cour ", 'a'+i)
	}
	s.retrieval("9.10", "score", "spelling-sixteen", "the first 16 words", everything(long), false,
		jetty)
	many := strings.Join(manyWords(255), " ") + " harbuor lanterm"
	s.retrieval("9.10", "score", "spelling-256", "among the first 256 terms", everything(many),
		false, jetty)
	for _, c := range []struct{ name, title, text string }{
		{"lends", "what is read otherwise spreads", "harbuor boats"},
		{"title", "a title in the text", "the harbuor ofice"},
		{"title-twice", "a title in a text with two words that are read alike",
			"harbor, the harbuor ofice"},
		{"filtered", "no node with what is read passes", "лодку"},
	} {
		q := everything(c.text)
		q.expand = 2
		s.retrieval("9.10", "expand", "spelling-"+c.name, c.title, q, false, jetty)
	}
	passages := newRequest("harbuor mast harboor")
	passages.packing, passages.passageTokens = "passages", new(int64(8))
	s.retrieval("9.10", "pack", "spelling-passages", "passages have what is read otherwise", passages,
		true, batchText{`{"node":{"key":"n","type":"T","summary":"Berths","content":"` +
			rep("rope ", 30) + `mast.\n\n` + rep("sail ", 30) + `harbour.\n\n` + rep("kelp ", 30) +
			`."}}`, `{"node":{"key":"m","type":"T","summary":"mast and mast"}}`})
	spellingReceipts(s)
}

func spellingReceipts(s *suite) {
	st := built(jetty)
	commit := baseCommit(dict{"graph": recordCID(st.graphRecord()), "message": ""})
	for _, c := range []struct{ name, title, spelling string }{
		{"spelling-off", "a request without spelling", "off"},
		{"spelling", "a warning of a word that is read as another", "on"},
	} {
		q := newRequest("harbuor")
		q.spelling = c.spelling
		rec := q.receipt(st, recordCID(commit), q.retrieve(st))
		in := obj{"author": "erin", "batches": []any{obj{"time": t0, "lines": jetty}},
			"request": q.input(), "commit": hx(encode(commit))}
		s.add("13.1", "receipt", c.name, c.title, in,
			obj{"receipt": recordCID(rec).String(), "json": jsonForm(rec)})
		s.add("13.3", "receipt", "replay-"+c.name, c.title+", again", in,
			obj{"receipt": recordCID(rec).String(), "replay": "identical"})
	}
	bad := func(v any) dict {
		return dict{"request": with(newRequest("tide").record(), dict{"spelling": v})}
	}
	base := newRequest("tide").receipt(built(harbour), recordCID(baseCommit(nil)), answer{})
	s.records("receipt", base, []recordCase{
		{"13.1", "spelling-on", "the default is left out", "field", bad("on")},
		{"8.1", "spelling-other", "no such value", "field", bad("maybe")},
		{"13.1", "spelling-bool", "another kind", "field", bad(false)},
	})
}

func manyWords(n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprint("x", i))
	}
	return out
}

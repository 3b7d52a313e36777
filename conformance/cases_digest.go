package main

import (
	"crypto/sha256"
)

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

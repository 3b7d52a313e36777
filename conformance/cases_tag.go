package main

func tagCases(s *suite) {
	l := recordCID(baseCommit(nil))
	base := dict{"kind": "tag", "v": 1, "target": l, "name": "v1", "tagger": "erin", "time": t0,
		"message": "The first"}
	s.records("tag", base, []recordCase{
		{"15.1", "plain", "a tag", "", nil},
		{"15.1", "name-parts", "a name of two parts", "", dict{"name": "v1/é"}},
		{"15.1", "message-empty", "an empty message", "", dict{"message": ""}},
		{"15.1", "message-max", "a message of 65,536 bytes", "", dict{"message": rep("m", 65536)}},
		{"15.1", "unknown-field", "an unknown field survives", "", dict{"zeta": dict{"a": 1}}},
		{"15.1", "message-65537", "a message of 65,537 bytes", "limit",
			dict{"message": rep("m", 65537)}},
		{"15.1", "message-missing", "no message", "field", dict{"message": absent{}}},
		{"15.1", "message-block", "a message in a block of its own", "",
			dict{"message": cidOf(codecRaw, []byte("The first"))}},
		{"15.1", "message-record", "a message that is a record", "type", dict{"message": l}},
		{"15.1", "target-missing", "no target", "field", dict{"target": absent{}}},
		{"15.1", "target-raw", "a target that is a raw block", "type",
			dict{"target": cidOf(codecRaw, nil)}},
		{"15.1", "name-dots", "a name with two dots", "name", dict{"name": "a..b"}},
		{"15.1", "name-missing", "no name", "field", dict{"name": absent{}}},
		{"15.1", "tagger-empty", "an empty tagger", "limit", dict{"tagger": ""}},
		{"15.1", "tagger-lf", "a line feed in the tagger", "name", dict{"tagger": "a\nb"}},
		{"15.1", "time-missing", "no time", "field", dict{"time": absent{}}},
	})
	op := dict{"kind": "operation", "v": 1, "seq": 2, "parent": l, "view": buildTree(nil).root,
		"time": t0, "actor": "erin", "command": []any{"undo"}}
	s.records("operation", op, []recordCase{
		{"15.6", "undoes", "an undo", "", dict{"undoes": l}},
		{"15.6", "redoes", "a redo", "", dict{"redoes": l}},
		{"15.6", "undoes-redoes", "both at once", "field", dict{"undoes": l, "redoes": l}},
		{"15.6", "undoes-raw", "an undo of a raw block", "type",
			dict{"undoes": cidOf(codecRaw, nil)}},
	})
}

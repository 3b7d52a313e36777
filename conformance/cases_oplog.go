package main

import "fmt"

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

// opStep is one step of a case: set refs ("" removes one), or take something back.
type opStep struct {
	set     refs
	undo    int // 0 for the newest that can be
	redo    bool
	restore int
	isUndo  bool
}

func set(pairs ...string) opStep {
	r := refs{}
	for i := 0; i < len(pairs); i += 2 {
		r[pairs[i]] = pairs[i+1]
	}
	return opStep{set: r}
}

func undo(s int) opStep { return opStep{isUndo: true, undo: s} }

func restore(s int) opStep { return opStep{restore: s} }

var redo = opStep{redo: true}

// run does a step, and returns its form in a vector and what is expected of it.
func (l opLog) run(step opStep) (opLog, obj, obj) {
	now := t0 + int64(len(l))*1_000_000
	var in, no obj
	next := l
	switch {
	case step.set != nil:
		after := refs{}
		for name, v := range l[l.last()].refs {
			after[name] = v
		}
		change := obj{}
		for name, v := range step.set {
			change[name] = v
			if after[name] = v; v == "" {
				delete(after, name)
				change[name] = nil
			}
		}
		in = obj{"set": change}
		next = l.add(opState{refs: after, time: now})
	case step.isUndo:
		in = obj{"undo": step.undo}
		at := step.undo
		if at == 0 {
			at = l.newestUndoable()
		}
		next, no = l.undo(at, now)
	case step.redo:
		in = obj{"redo": true}
		next, no = l.undo(l.newestUndo(), now)
	default:
		in = obj{"restore": step.restore}
		next = l.restore(step.restore, now)
	}
	if no != nil {
		return l, in, no
	}
	op := next[next.last()]
	out := obj{"seq": next.last(), "refs": op.refs}
	if op.back != 0 && op.redo {
		out["redoes"] = op.back
	} else if op.back != 0 {
		out["undoes"] = op.back
	}
	return next, in, out
}

func (s *suite) oplogCase(clause, name, title string, steps ...opStep) {
	l := newOpLog()
	in, want := []obj{}, []obj{}
	for _, step := range steps {
		next, i, w := l.run(step)
		in, want = append(in, i), append(want, w)
		l = next
	}
	s.add(clause, "oplog", name, title, obj{"steps": in}, obj{"steps": want})
}

// someCID is a link to a block that nobody has.
func someCID(n int) string { return recordCID(dict{"n": n}).String() }

func oplogCases(s *suite) {
	a, b, c := someCID(1), someCID(2), someCID(3)
	const main, side, tag = "refs/heads/main", "refs/heads/side", "refs/tags/v1"
	born := set("HEAD", main)
	s.oplogCase("15.5", "no-change", "what changes no ref is no operation", born, set(main, a),
		set(main, a), set(main, b))
	s.oplogCase("15.6", "first", "the first operation cannot be undone", born, undo(0), undo(1), redo)
	s.oplogCase("15.6", "chain", "undo goes back, redo goes forward", born, set(main, a),
		set(main, b), set(main, c), undo(0), undo(0), redo, undo(0), redo, redo, redo, undo(0))
	s.oplogCase("15.6", "undo-undo", "undoing an undo is redoing, undoing a redo is undoing", born,
		set(main, a), set(main, b), undo(3), undo(4), undo(5), undo(6), redo, undo(0))
	s.oplogCase("15.6", "conflict", "a ref that moved since is a conflict", born, set(main, a),
		set(main, b), undo(2), set(tag, a), undo(3), undo(2), undo(2))
	s.oplogCase("15.6", "branches", "other refs are not in the way", born, set(main, a), set(side, a),
		set(main, b), undo(3), undo(2), undo(4), undo(2))
	s.oplogCase("15.6", "there-and-back", "where it went and came back, it has moved all the same",
		born, set(main, a), set(main, b), set(main, a), undo(2), undo(0), undo(0), undo(0))
	s.oplogCase("15.6", "several", "all refs of an operation or none", born, set(main, a, side, b),
		set(side, c), undo(2), undo(0), undo(0))
	s.oplogCase("15.6", "head", "HEAD is moved back too", born, set(main, a), set(side, a),
		set("HEAD", side), set("HEAD", b), undo(0), undo(0), redo, redo)
	s.oplogCase("15.6", "removed", "what was removed comes back", born, set(main, a, tag, a),
		set(tag, ""), set("refs/stage/main", c), set("refs/stage/main", "", main, b), undo(0), undo(3))
	s.oplogCase("15.6", "sessions", "sessions stay", born, set(main, a),
		set("refs/sessions/s", b), undo(3), set("refs/sessions/s", c, main, b), undo(0), undo(0), redo)
	s.oplogCase("15.6", "redo-after", "redo after something else: where it moved the same, a conflict",
		born, set(main, a), set(main, b), undo(0), set(tag, a), redo, undo(0), set(main, c), redo)
	s.oplogCase("15.7", "restore", "back to an operation, but for sessions", born, set(main, a),
		set(main, b, side, a), set("refs/sessions/s", c), restore(2), restore(2), undo(0), restore(1),
		undo(0), redo)
	randomLogs(s)
}

func randomLogs(s *suite) {
	names := []string{"refs/heads/main", "refs/heads/side", "refs/tags/v1", "refs/sessions/s"}
	for n := range 6 {
		seed := rng(5000 + n)
		r := &seed
		steps := []opStep{set("HEAD", "refs/heads/main")}
		for i := range 24 {
			switch k := r.below(8); {
			case k < 3:
				value := someCID(r.below(3))
				if r.below(5) == 0 {
					value = ""
				}
				steps = append(steps, set(names[r.below(len(names))], value))
			case k == 3:
				steps = append(steps, undo(1+r.below(i+1)))
			case k == 4:
				steps = append(steps, restore(1))
			case k == 5:
				steps = append(steps, redo)
			default:
				steps = append(steps, undo(0))
			}
		}
		s.oplogCase("15.6", fmt.Sprintf("random-%d", n), "a random log", known(steps)...)
	}
}

// known leaves out steps back to operations that are not there yet.
func known(steps []opStep) []opStep {
	var out []opStep
	l := newOpLog()
	for _, step := range steps {
		if step.undo > l.last() || step.restore > l.last() {
			continue
		}
		l, _, _ = l.run(step)
		out = append(out, step)
	}
	return out
}

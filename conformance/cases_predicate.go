package main

import "encoding/json"

// predicateTexts are predicates in the text form of clause 8.2.
func predicateTexts(s *suite) {
	good := []struct {
		name, text string
		want       predicate
	}{
		{"spaces", "age >= 40", predicate{"age", ">=", int64(40), true, ""}},
		{"tight", "age>=40", predicate{"age", ">=", int64(40), true, ""}},
		{"many-spaces", " \tage  =\t40 ", predicate{"age", "=", int64(40), true, ""}},
		{"equal", "n=1.0", predicate{"n", "=", 1.0, true, ""}},
		{"differ", "n!=null", predicate{"n", "!=", nil, true, ""}},
		{"less", "n<-1", predicate{"n", "<", int64(-1), true, ""}},
		{"at-most", `n<="x"`, predicate{"n", "<=", "x", true, ""}},
		{"greater", "n > 1e2", predicate{"n", ">", 100.0, true, ""}},
		{"in", `n in [1,"a"]`, predicate{"n", "in", []any{int64(1), "a"}, true, ""}},
		{"prefix", `path prefix "a b"`, predicate{"path", "prefix", "a b", true, ""}},
		{"exists", "n exists", predicate{"n", "exists", nil, false, ""}},
		{"not-exists", "n !exists", predicate{"n", "!exists", nil, false, ""}},
		{"map", `n = {"b":1,"a":[true]}`, predicate{"n", "=",
			dict{"a": []any{true}, "b": int64(1)}, true, ""}},
		{"name-quoted", `"a b" = 1`, predicate{"a b", "=", int64(1), true, ""}},
		{"name-operator", `"a=b">1`, predicate{"a=b", ">", int64(1), true, ""}},
		{"name-escaped", `"\u0061" = 1`, predicate{"a", "=", int64(1), true, ""}},
		{"name-word", "in = 5", predicate{"in", "=", int64(5), true, ""}},
		{"name-dots", "a.b-c/d:e = 5", predicate{"a.b-c/d:e", "=", int64(5), true, ""}},
		{"value-operator", `n = "a = b"`, predicate{"n", "=", "a = b", true, ""}},
		{"out-edges", "out.owns exists", predicate{"owns", "exists", nil, false, "out"}},
		{"in-edges", "in.mentions >= 3", predicate{"mentions", ">=", int64(3), true, "in"}},
		{"in-list", "in.a.b in [0,2]", predicate{"a.b", "in", []any{int64(0), int64(2)}, true, "in"}},
		{"out-quoted", `out."part of" = 1`, predicate{"part of", "=", int64(1), true, "out"}},
		{"name-out", `"out.owns" = 1`, predicate{"out.owns", "=", int64(1), true, ""}},
		{"name-outer", "outer.owns = 1", predicate{"outer.owns", "=", int64(1), true, ""}},
	}
	for _, c := range good {
		e := obj{"name": c.want.name, "op": c.want.op}
		if c.want.hasValue {
			e["value"] = json.RawMessage(jsonForm(c.want.value))
		}
		if c.want.edges != "" {
			e["edges"] = c.want.edges
		}
		s.add("8.2", "filter", "text-"+c.name, "the text form of a predicate",
			obj{"predicate": c.text}, e)
	}
	bad := []struct{ name, title, text string }{
		{"empty", "nothing", ""},
		{"name", "a name alone", "n"},
		{"no-name", "no name", "= 1"},
		{"empty-name", "an empty name", `"" = 1`},
		{"no-value", "no value", "n ="},
		{"operator", "an unknown operator", "n ~ 1"},
		{"double", "two signs", "n == 1"},
		{"word", "a word is no JSON value", "n = red"},
		{"two-values", "two values", "n = 1 2"},
		{"single-quotes", "single quotes", "n = 'x'"},
		{"exists-value", "exists with a value", "n exists 1"},
		{"open-name", "an open name", `"n = 1`},
		{"in-number", "in without a list", "n in 5"},
		{"prefix-number", "prefix without a string", "n prefix 5"},
		{"order-null", "an order of null", "n < null"},
		{"out-type", "edges of no type", "out. exists"},
		{"out-text", "a number of edges is no string", `out.owns = "1"`},
		{"out-prefix", "nor has it a prefix", `out.owns prefix "1"`},
		{"out-list", "nor is one of strings", `out.owns in [1,"2"]`},
	}
	for _, c := range bad {
		s.refuse("8.2", "filter", "text-bad-"+c.name, c.title, "request", obj{"predicate": c.text})
	}
}

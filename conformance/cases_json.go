package main

import "fmt"

func jsonCases(s *suite) {
	good := []struct{ name, title, text string }{
		{"space", "white space around the value", " \t\r\n1\n "},
		{"minus-zero-int", "-0 is the integer 0", "-0"},
		{"minus-zero-float", "-0.0 is a float", "-0.0"},
		{"minus-zero-exp", "-0e5 is a float", "-0e5"},
		{"int-max", "the greatest integer", "9223372036854775807"},
		{"int-min", "the least integer", "-9223372036854775808"},
		{"float-point", "1.0 is a float", "1.0"},
		{"float-exp", "1e2 is a float", "1e2"},
		{"float-upper", "E and + are read", "1E+2"},
		{"float-halfway", "halfway between two floats, ties to even", "9007199254740993.0"},
		{"float-halfway-up", "a digit beyond halfway", "9007199254740993.0" + rep("0", 80) + "1"},
		{"float-under", "too small a number is 0", "1e-400"},
		{"float-minus-under", "too small a negative number is -0", "-1e-400"},
		{"float-denormal", "the least positive float", "5e-324"},
		{"float-long", "1,100 bytes of digits", "0." + rep("3", 1098)},
		{"float-1e15", "positional below 10^16", "9999999999999998.0"},
		{"float-1e16", "an exponent from 10^16", "10000000000000000.0"},
		{"float-1e-6", "positional from 10^-6", "1e-6"},
		{"float-9e-7", "an exponent below 10^-6", "0.00000099"},
		{"float-1e21", "one digit and an exponent", "1e21"},
		{"float-big", "the greatest float", "1.7976931348623157e308"},
		{"float-third", "shortest digits", "0.3333333333333333"},
		{"escapes", "every escape", `"\"\\\/\b\f\n\r\t\u0041\u00e9"`},
		{"escape-write", "control characters are written in lower-case hex",
			`"\u001F\u0000\u007f"`},
		{"surrogate-pair", "an escaped pair is one scalar", `"\ud83d\uDE00"`},
		{"no-escape", "solidus, < and line separators are written as they are",
			`"</\u2028\u00a0>"`},
		{"map-order", "members in any order", `{"b":1,"aa":2,"":3,"a":4}`},
		{"nested", "white space everywhere", " { \"a\" : [ 1 , { } , [ ] ] } "},
		{"link", "a link", `{"/":"` + recordCID(dict{}).String() + `"}`},
		{"bytes", "bytes", `{"/":{"bytes":"AQID/w"}}`},
		{"bytes-empty", "no bytes", `{"/":{"bytes":""}}`},
		{"bytes-escaped-name", "the reserved name may be escaped", `{"\u002f":{"bytes":"AA"}}`},
		{"depth-64", "64 deep", rep("[", 64) + rep("]", 64)},
		{"depth-link", "a link 64 deep", rep("[", 64) + `{"/":{"bytes":"AA"}}` + rep("]", 64)},
	}
	for _, c := range good {
		v, err := parseJSON(c.text)
		if err != nil {
			s.err = fmt.Errorf("%s: %w", c.name, err)
			return
		}
		s.add("1.5", "json", c.name, c.title, obj{"text": c.text},
			obj{"block": pieces(encode(v)), "json": jsonForm(v)})
	}
	jsonBad(s)
}

func jsonBad(s *suite) {
	bad := []struct{ name, title, text string }{
		{"empty", "nothing", ""},
		{"blank", "white space alone", " "},
		{"two", "two values", "1 2"},
		{"trailing-comma", "a comma before the end of a list", "[1,]"},
		{"trailing-comma-object", "a comma before the end of an object", `{"a":1,}`},
		{"comment", "a comment", "/**/1"},
		{"single-quotes", "single quotes", "'a'"},
		{"bare-name", "a name without quotes", "{a:1}"},
		{"open-list", "an open list", "[1"},
		{"open-object", "an open object", `{"a":1`},
		{"open-string", "an open string", `"abc`},
		{"leading-zero", "a leading zero", "01"},
		{"leading-plus", "a leading plus", "+1"},
		{"bare-point", "no digit after the point", "1."},
		{"bare-exponent", "no digit in the exponent", "1e"},
		{"no-integer-part", "no digit before the point", ".5"},
		{"nan", "NaN", "NaN"},
		{"infinity", "infinity", "-Infinity"},
		{"hex", "a hexadecimal number", "0x10"},
		{"int-over", "2^63", "9223372036854775808"},
		{"int-under", "-2^63 - 1", "-9223372036854775809"},
		{"float-over", "a float that rounds to infinity", "1.8e308"},
		{"number-long", "a number of 1,101 bytes", "0." + rep("3", 1099)},
		{"control", "a raw control character in a string", "\"a\x01\""},
		{"newline", "a raw line feed in a string", "\"a\nb\""},
		{"escape", "an unknown escape", `"\x41"`},
		{"escape-short", "a short escape", `"\u12"`},
		{"escape-hex", "an escape that is not hexadecimal", `"\u12g4"`},
		{"surrogate-lone", "a lone high surrogate", `"\ud83d"`},
		{"surrogate-low", "a lone low surrogate", `"\ude00"`},
		{"surrogate-order", "a pair the wrong way round", `"\ude00\ud83d"`},
		{"surrogate-other", "a high surrogate before another escape", `"\ud83d\u0041"`},
		{"duplicate", "a duplicate name", `{"a":1,"a":1}`},
		{"duplicate-escaped", "a duplicate name in disguise", `{"a":1,"\u0061":2}`},
		{"reserved-int", "the name / with a number", `{"/":1}`},
		{"reserved-null", "the name / with null", `{"/":null}`},
		{"reserved-beside", "a member beside /", `{"/":{"bytes":"AA"},"a":1}`},
		{"reserved-inner", "another member beside bytes", `{"/":{"bytes":"AA","a":1}}`},
		{"reserved-escaped", "the name / in disguise", `{"\u002f":1,"b":2}`},
		{"bytes-padding", "padded base64", `{"/":{"bytes":"AA=="}}`},
		{"bytes-url", "the URL alphabet", `{"/":{"bytes":"-_8"}}`},
		{"bytes-spare", "spare bits that are set", `{"/":{"bytes":"AB"}}`},
		{"bytes-line", "a line end in base64", `{"/":{"bytes":"AA\nAA"}}`},
		{"bytes-number", "bytes that are no string", `{"/":{"bytes":5}}`},
		{"link-bad", "a link that is no CID", `{"/":"bafy"}`},
		{"link-upper", "a link in upper case", `{"/":"` + upper(recordCID(dict{}).String()) + `"}`},
		{"depth-65", "65 deep", rep("[", 65) + rep("]", 65)},
	}
	for _, c := range bad {
		_, err := parseJSON(c.text)
		r, ok := err.(*reason)
		if !ok {
			s.err = fmt.Errorf("%s is read without an error", c.name)
			return
		}
		s.refuse("1.5", "json", "bad-"+c.name, c.title, r.class, obj{"text": c.text})
	}
	for name, text := range map[string]string{"bom": "efbbbf31", "utf8": "22ff22",
		"utf16": "310000"} {
		s.refuse("1.5", "json", "bad-"+name, "bytes that are not UTF-8 JSON: "+name, "utf8",
			obj{"hex": text})
	}
}

package mcp

import (
	"bytes"
	"encoding/json"
	"testing"
)

// FuzzMembers takes objects and lists apart as a decoder does.
func FuzzMembers(f *testing.F) {
	for _, s := range []string{
		"{}", "[]", "null", " { } ", `{"a":1}`, `{"a":{"b":[1,"]}\\\""]},"c":null , "d" : -1.5e3}`, `[1,true,"x\\",{"y":[]},[[]]]`,
		`{"\u0061\n":"\xff"}`, "{\"a\":1}x", `{"a":}`, `["a"`, `{"a":1,"a":2}`, "[1 2]", `"[]"`, "[\t-0\r\n]",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := members(data)
		var object map[string]json.RawMessage
		isObject := json.Unmarshal(data, &object) == nil && object != nil
		if (err == nil) != isObject {
			t.Fatalf("%q: %v, a decoder reads it: %v", data, err, isObject)
		}
		last := map[string]json.RawMessage{}
		for _, m := range got {
			last[m.name] = m.value
		}
		if len(last) != len(object) {
			t.Fatalf("%q: names %v, want those of %v", data, last, object)
		}
		for name, want := range object {
			if !bytes.Equal(last[name], want) {
				t.Errorf("%q: %q is %q, want %q", data, name, last[name], want)
			}
		}
		list, err := entries(data)
		var want []json.RawMessage
		if isList := json.Unmarshal(data, &want) == nil; (err == nil) != isList || len(list) != len(want) {
			t.Fatalf("%q: %q, %v, a decoder reads %q", data, list, err, want)
		}
		for i := range want {
			if !bytes.Equal(list[i], want[i]) {
				t.Errorf("%q: entry %d is %q, want %q", data, i, list[i], want[i])
			}
		}
	})
}

package ipld_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
	"pgregory.net/rapid"
)

func TestJSONLimits(t *testing.T) {
	deep := func(n int, open, shut, inner string) string {
		return strings.Repeat(open, n) + inner + strings.Repeat(shut, n)
	}
	link := `{"/":"` + emptyText + `"}`
	numbers := func(n int) string { return "[" + strings.Repeat("0,", n-1) + "0]" }
	links := "[" + strings.Repeat(link+",", 20000) + link + "]"
	object := func(n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(`,"` + strconv.Itoa(i) + `":0`)
		}
		return "{" + b.String()[1:] + "}"
	}
	cases := []struct{ name, text, reason string }{
		{"lists", deep(ipld.MaxDepth, "[", "]", ""), ""},
		{"lists over", deep(ipld.MaxDepth+1, "[", "]", ""), "deeper"},
		{"maps", deep(ipld.MaxDepth, `{"a":`, "}", "1"), ""},
		{"maps over", deep(ipld.MaxDepth+1, `{"a":`, "}", "1"), "deeper"},
		{"empty map", deep(ipld.MaxDepth-1, `{"a":`, "}", "{}"), ""},
		{"empty map over", deep(ipld.MaxDepth, `{"a":`, "}", "{}"), "deeper"},
		{"link", deep(ipld.MaxDepth, "[", "]", link), ""},
		{"bytes", deep(ipld.MaxDepth, "[", "]", `{"/":{"bytes":""}}`), ""},
		{"siblings", "[" + strings.Repeat("[{}],{},", 1000) + "[]]", ""},
		{"a million lists", strings.Repeat("[", 1<<20), "deeper"},
		{"a million reserved", strings.Repeat(`{"/":`, 1<<18), ""},
		{"items", numbers(ipld.MaxItems - 1), ""},
		{"items over", numbers(ipld.MaxItems), "131072 items"},
		{"keys", object((ipld.MaxItems - 1) / 2), ""},
		{"keys over", object(ipld.MaxItems / 2), "131072 items"},
		{"links are not items", links, ""},
	}
	for _, c := range cases {
		v, err := ipld.ParseJSON([]byte(c.text))
		if c.reason != "" || c.name == "a million reserved" {
			must.True(t, errors.Is(err, ipld.ErrJSON) && strings.Contains(err.Error(), c.reason),
				"%s: got %v, want %q", c.name, err, c.reason)
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if err := ipld.Check(ipld.AppendValue(nil, v)); err != nil &&
			!strings.Contains(err.Error(), "block of") {
			t.Errorf("%s: parsed, but no block: %v", c.name, err)
		}
	}
}

func TestJSONRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := genValue(3).Draw(t, "value")
		must.Require(t, ipld.HasJSON(v), "no JSON form")
		text := ipld.AppendJSON(nil, v)
		before := slices.Clone(text)
		got := must.Get(ipld.ParseJSON(text))(t, text)
		if !got.Equal(v) {
			t.Fatalf("%s read as %s", text, show(got))
		}
		must.Require(t, bytes.Equal(text, before), "input changed")
		must.Require(t, json.Valid(text), "%s: not JSON for the standard library", text)
	})
}

func TestJSONFloats(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := math.Float64frombits(rapid.Uint64().Draw(t, "bits"))
		if math.IsNaN(f) || math.IsInf(f, 0) {
			t.Skip("no value")
		}
		text := string(ipld.AppendJSON(nil, ipld.FloatValue(f)))
		got, err := ipld.ParseJSON([]byte(text))
		if err != nil || got.Kind() != ipld.Float || math.Float64bits(got.Float()) != math.Float64bits(f) {
			t.Fatalf("%v: %s read as %s, %v", f, text, show(got), err)
		}
		must.Require(t, strings.ContainsAny(text, ".e") && len(text) <= 24, "%v: %s", f, text)
	})
}

// TestReservedKey: foreign values may use the key that JSON reserves for links.
func TestReservedKey(t *testing.T) {
	for _, inner := range []ipld.Value{{}, ipld.StringValue(emptyText), ipld.ListValue(), ipld.BytesValue(nil)} {
		v := ipld.MapValue(ipld.Entry{Key: "/", Value: inner})
		for _, outer := range []ipld.Value{v, ipld.ListValue(v), ipld.MapValue(ipld.Entry{Key: "a", Value: v})} {
			if ipld.HasJSON(outer) {
				t.Errorf("%s has a JSON form", show(outer))
			}
			if got, err := ipld.ParseJSON(ipld.AppendJSON(nil, outer)); err == nil && got.Equal(outer) {
				t.Errorf("%s came back", show(outer))
			}
		}
	}
}

func TestNoEncoding(t *testing.T) {
	for name, v := range map[string]ipld.Value{
		"NaN": ipld.FloatValue(math.NaN()), "infinity": ipld.FloatValue(math.Inf(-1)),
		"link to nothing": ipld.LinkValue(ipld.CID{}),
	} {
		must.True(t, panics(func() { ipld.AppendValue(nil, v) }) && panics(func() { ipld.AppendJSON(nil, v) }),
			"%s was encoded", name)
	}
}

// TestValueTravels decodes values from their encoding/json output, also those without a JSON form.
func TestValueTravels(t *testing.T) {
	odd := ipld.MapValue(ipld.Entry{"/", ipld.IntValue(1)}, ipld.Entry{"a", ipld.MapValue(ipld.Entry{"/", ipld.StringValue("no link")})})
	for _, v := range []ipld.Value{
		{}, ipld.BoolValue(true), ipld.IntValue(-5), ipld.FloatValue(0.5), ipld.FloatValue(3), ipld.StringValue("a<b \u2028"), ipld.BytesValue([]byte{1, 2}),
		ipld.LinkValue(ipld.Sum(ipld.Raw, nil)), ipld.ListValue(ipld.IntValue(1), ipld.Value{}), ipld.MapValue(ipld.Entry{"b", ipld.IntValue(2)}), odd,
	} {
		data := must.Get(v.MarshalJSON())(t)
		var back ipld.Value
		err := json.Unmarshal(data, &back)
		must.True(t, err == nil && (back.Equal(v) || !ipld.HasJSON(v)), "%s: %v", data, err)
		must.Equal(t, string(ipld.AppendJSON(nil, back)), string(data), "is read back as")
	}
	var v ipld.Value
	for _, bad := range []string{``, `{"a":1`, `{"a":1,"a":2}`, `1e999`, `99999999999999999999`} {
		must.True(t, v.UnmarshalJSON([]byte(bad)) != nil, "%q was read", bad)
	}
}

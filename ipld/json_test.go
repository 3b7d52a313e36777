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

	"github.com/mnem-project/mnem/ipld"
	"pgregory.net/rapid"
)

func TestParseJSON(t *testing.T) {
	empty := ipld.Sum(ipld.Raw, nil)
	entry := func(key string, v ipld.Value) ipld.Entry { return ipld.Entry{Key: key, Value: v} }
	list, object, number := ipld.ListValue, ipld.MapValue, ipld.IntValue
	float, text := ipld.FloatValue, ipld.StringValue
	cases := []struct {
		text string
		want ipld.Value
		out  string // the output of AppendJSON, if it differs from text
	}{
		{"null", ipld.Value{}, ""},
		{"true", ipld.BoolValue(true), ""},
		{" \t\r\nfalse \n", ipld.BoolValue(false), "false"},
		{"0", number(0), ""},
		{"-0", number(0), "0"},
		{"-0.0", float(math.Copysign(0, -1)), ""},
		{"-0e0", float(math.Copysign(0, -1)), "-0.0"},
		{"0.0", float(0), ""},
		{"1", number(1), ""},
		{"1.0", float(1), ""},
		{"1e0", float(1), "1.0"},
		{"1E2", float(100), "100.0"},
		{"9223372036854775807", number(math.MaxInt64), ""},
		{"-9223372036854775808", number(math.MinInt64), ""},
		{"9223372036854775808.0", float(1 << 63), "9.223372036854776e+18"},
		{"9007199254740993", number(9007199254740993), ""},
		{"0.1", float(0.1), ""},
		{"9999999999999998.0", float(9999999999999998), ""},
		{"10000000000000000.0", float(1e16), "1e+16"},
		{"0.000001", float(1e-6), ""},
		{"0.00000099", float(9.9e-7), "9.9e-7"},
		{"1e-10", float(1e-10), ""},
		{"5e-324", float(5e-324), ""},
		{"1e-400", float(0), "0.0"},
		{"1.7976931348623157e+308", float(math.MaxFloat64), ""},
		{"0." + strings.Repeat("0", ipld.MaxNumber-2), float(0), "0.0"},
		{`""`, text(""), ""},
		{`"a\u00e9\ud83d\ude00\/"`, text("aé😀/"), `"aé😀/"`},
		{`"\"\\\b\f\n\r\t\u0000\u001f"`, text("\"\\\b\f\n\r\t\x00\x1f"), ""},
		{"\"\u007f\u2028<>&\"", text("\u007f\u2028<>&"), ""},
		{"[]", list(), ""},
		{"[ 1 , [ ] ]", list(number(1), list()), "[1,[]]"},
		{"{}", object(), ""},
		{`{"aa":1,"b":2}`, object(entry("aa", number(1)), entry("b", number(2))), `{"b":2,"aa":1}`},
		{`{"":null,"//":{}}`, object(entry("", ipld.Value{}), entry("//", object())), ""},
		{`{"/":"` + emptyText + `"}`, ipld.LinkValue(empty), ""},
		{`{"\u002f":"` + emptyText + `"}`, ipld.LinkValue(empty), `{"/":"` + emptyText + `"}`},
		{`{"/":{"bytes":""}}`, ipld.BytesValue(nil), ""},
		{`{"/":{"bytes":"/w"}}`, ipld.BytesValue([]byte{0xff}), ""},
		{`{"/":{"bytes":"+/8A"}}`, ipld.BytesValue([]byte{0xfb, 0xff, 0}), ""},
		{`{"bytes":"/w"}`, object(entry("bytes", text("/w"))), ""},
	}
	for _, c := range cases {
		got, err := ipld.ParseJSON([]byte(c.text))
		if err != nil {
			t.Errorf("%.80q: %v", c.text, err)
			continue
		}
		if !got.Equal(c.want) {
			t.Errorf("%.80q: got %s, want %s", c.text, show(got), show(c.want))
		}
		if c.out == "" {
			c.out = c.text
		}
		if out := string(ipld.AppendJSON([]byte("x"), got)); out != "x"+c.out {
			t.Errorf("%.80q: written as %q", c.text, out)
		}
	}
}

func TestParseJSONRefused(t *testing.T) {
	cases := []struct {
		text   string
		offset int64
		reason string
	}{
		{"", 0, "unexpected end"},
		{" \n", 2, "unexpected end"},
		{"\ufeff1", 0, "invalid character"},
		{"nul", 3, "unexpected"},
		{"NaN", 0, "invalid character"},
		{"Infinity", 0, "invalid character"},
		{"+1", 0, "invalid character"},
		{"01", 1, "data after"},
		{"1.", 0, "unexpected"},
		{".5", 0, "invalid character"},
		{"1e", 0, "unexpected"},
		{"0x10", 1, "data after"},
		{"'a'", 0, "invalid character"},
		{"[1,]", 2, "invalid character"},
		{`{"a":1,}`, 6, "invalid character"},
		{`{a:1}`, 1, "invalid character"},
		{`{"a" 1}`, 5, "invalid character"},
		{`{1:1}`, 1, "name"},
		{"[1 2]", 3, "invalid character"},
		{"[}", 1, "invalid character"},
		{"]", 0, "invalid character"},
		{"[", 1, "unexpected"},
		{`{"a":`, 5, "unexpected"},
		{`"a`, 2, "unexpected"},
		{"\"a\nb\"", 2, "invalid character"},
		{`"\x41"`, 1, "escape"},
		{"1 2", 2, "data after"},
		{"null,", 4, "data after"},
		{"{}{}", 2, "data after"},
		{"1//c", 1, "data after"},
		{"/*c*/1", 0, "invalid character"},
		{"\"\xff\"", 1, "UTF-8"},
		{"\"\xed\xa0\x80\"", 1, "UTF-8"},
		{"{\"\xff\":1}", 2, "UTF-8"},
		{`"\ud800"`, 1, "surrogate"},
		{`"\udc00"`, 1, "surrogate"},
		{`"\ud800\u0041"`, 1, "surrogate"},
		{`{"a":1,"a":2}`, 7, "duplicate"},
		{`{"a":1,"\u0061":2}`, 7, "duplicate"},
		{`[{"a":{"b":1,"b":1}}]`, 13, "duplicate"},
		{"9223372036854775808", 0, "outside int64"},
		{"[-9223372036854775809]", 1, "outside int64"},
		{"1e400", 0, "beyond the range"},
		{"[1,-1.8e308]", 3, "beyond the range"},
		{"1e99999999999999999999", 0, "beyond the range"},
		{"0." + strings.Repeat("0", ipld.MaxNumber-1), 0, "number of 1101 bytes"},
		{strings.Repeat("1", 1<<20), 0, "number of 1048576 bytes"},
		{`{"/":1}`, 0, "reserved"},
		{`{"/":null}`, 0, "reserved"},
		{`{"/":[]}`, 0, "reserved"},
		{`{"/":{}}`, 5, "reserved"},
		{`{"/":{"bytes":1}}`, 14, "not a string"},
		{`{"/":{"byte":""}}`, 6, "reserved"},
		{`{"/":{"bytes":"","x":1}}`, 17, "another name"},
		{`{"/":{"bytes":""},"x":1}`, 18, "another name"},
		{`{"/":"` + emptyText + `","x":1}`, int64(8 + len(emptyText)), "another name"},
		{`{"x":1,"/":"` + emptyText + `"}`, 7, "reserved"},
		{`{"x":1,"/":2}`, 7, "reserved"},
		{`{"/":""}`, 5, "link"},
		{`{"/":"` + strings.ToUpper(emptyText) + `"}`, 5, "link"},
		{`{"/":"Qm"}`, 5, "link"},
		{`{"/":{"bytes":"/w=="}}`, 14, "base64"},
		{`{"/":{"bytes":"/x"}}`, 14, "base64"},
		{`{"/":{"bytes":"_w"}}`, 14, "base64"},
		{`{"/":{"bytes":"A"}}`, 14, "base64"},
		{`{"/":{"bytes":"/w\n"}}`, 14, "line end"},
		{`{"/":`, 5, "unexpected"},
		{`{"/":{"bytes":"/w"}`, 19, "unexpected"},
	}
	for _, c := range cases {
		got, err := ipld.ParseJSON([]byte(c.text))
		var je *ipld.JSONError
		if !errors.Is(err, ipld.ErrJSON) || !errors.As(err, &je) {
			t.Errorf("%.80q: got %s, %v", c.text, show(got), err)
			continue
		}
		if je.Offset != c.offset || !strings.Contains(je.Reason, c.reason) || len(je.Reason) > 300 {
			t.Errorf("%.80q: got %v, want %q at byte %d", c.text, err, c.reason, c.offset)
		}
	}
}

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
			if !errors.Is(err, ipld.ErrJSON) || !strings.Contains(err.Error(), c.reason) {
				t.Errorf("%s: got %v, want %q", c.name, err, c.reason)
			}
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
		if !ipld.HasJSON(v) {
			t.Fatal("no JSON form")
		}
		text := ipld.AppendJSON(nil, v)
		before := slices.Clone(text)
		got, err := ipld.ParseJSON(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if !got.Equal(v) {
			t.Fatalf("%s read as %s", text, show(got))
		}
		if !bytes.Equal(text, before) {
			t.Fatal("input changed")
		}
		if !json.Valid(text) {
			t.Fatalf("%s: not JSON for the standard library", text)
		}
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
		if err != nil || got.Kind() != ipld.Float ||
			math.Float64bits(got.Float()) != math.Float64bits(f) {
			t.Fatalf("%v: %s read as %s, %v", f, text, show(got), err)
		}
		if !strings.ContainsAny(text, ".e") || len(text) > 24 {
			t.Fatalf("%v: %s", f, text)
		}
	})
}

// TestReservedKey: foreign values may use the key that JSON reserves for links.
func TestReservedKey(t *testing.T) {
	for _, inner := range []ipld.Value{
		{}, ipld.StringValue(emptyText), ipld.ListValue(), ipld.BytesValue(nil),
	} {
		v := ipld.MapValue(ipld.Entry{Key: "/", Value: inner})
		for _, outer := range []ipld.Value{
			v, ipld.ListValue(v), ipld.MapValue(ipld.Entry{Key: "a", Value: v}),
		} {
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
		if !panics(func() { ipld.AppendValue(nil, v) }) || !panics(func() { ipld.AppendJSON(nil, v) }) {
			t.Errorf("%s was encoded", name)
		}
	}
}

// TestValueTravels decodes values from their encoding/json output, also those without a JSON form.
func TestValueTravels(t *testing.T) {
	odd := ipld.MapValue(ipld.Entry{"/", ipld.IntValue(1)}, ipld.Entry{"a", ipld.MapValue(ipld.Entry{"/", ipld.StringValue("no link")})})
	for _, v := range []ipld.Value{
		{}, ipld.BoolValue(true), ipld.IntValue(-5), ipld.FloatValue(0.5), ipld.FloatValue(3), ipld.StringValue("a<b \u2028"), ipld.BytesValue([]byte{1, 2}),
		ipld.LinkValue(ipld.Sum(ipld.Raw, nil)), ipld.ListValue(ipld.IntValue(1), ipld.Value{}), ipld.MapValue(ipld.Entry{"b", ipld.IntValue(2)}), odd,
	} {
		data, err := v.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		var back ipld.Value
		if err := json.Unmarshal(data, &back); err != nil || !back.Equal(v) && ipld.HasJSON(v) {
			t.Errorf("%s: %v", data, err)
		}
		if again := ipld.AppendJSON(nil, back); string(again) != string(data) {
			t.Errorf("%s is read back as %s", data, again)
		}
	}
	var v ipld.Value
	for _, bad := range []string{``, `{"a":1`, `{"a":1,"a":2}`, `1e999`, `99999999999999999999`} {
		if err := v.UnmarshalJSON([]byte(bad)); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

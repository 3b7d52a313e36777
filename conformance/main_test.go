// The generator has one goroutine: the race detector would only make it ten times slower.

//go:build !race

package main

import (
	"bytes"
	"math"
	"os"
	"testing"
)

// TestKnownAnswers holds the generator to values that others have published or that can be
// reckoned by hand, so that it is wrong in a way of its own at worst.
func TestKnownAnswers(t *testing.T) {
	cases := []struct{ what, got, want string }{
		{"1,000,000 (RFC 8949)", hx(encode(int64(1_000_000))), "1a000f4240"},
		{"-1,000 (RFC 8949)", hx(encode(int64(-1000))), "3903e7"},
		{"1.1 (RFC 8949)", hx(encode(1.1)), "fb3ff199999999999a"},
		{"[1, [2, 3]] (RFC 8949)", hx(encode([]any{1, []any{2, 3}})), "8201820203"},
		{"map order", hx(encode(dict{"aa": 1, "b": 2})), "a26162026261" + "6101"},
		{"CID of {}", recordCID(dict{}).String(),
			"bafyreigbtj4x7ip5legnfznufuopl4sg4knzc2cof6duas4b3q2fy6swua"},
		{"CID of raw hello", cidOf(codecRaw, []byte("hello")).String(),
			"bafkreibm6jg3ux5qumhcn2b3flc3tyu6dmlb4xa7u5bf44yegnrjhc4yeq"},
		{"2^53 as a float", floatText(1 << 53), "9007199254740992.0"},
		{"the least float", floatText(math.SmallestNonzeroFloat64), "5e-324"},
		{"uuid", uuid(string(unhex("00112233445566778899aabbccddeeff"))),
			"00112233-4455-6677-8899-aabbccddeeff"},
	}
	for _, c := range cases {
		if c.got != c.want {
			t.Errorf("%s: %s, want %s", c.what, c.got, c.want)
		}
	}
}

func TestPiecesRoundTrip(t *testing.T) {
	r := rng(7)
	for range 200 {
		var b []byte
		for range r.below(6) {
			b = append(b, bytes.Repeat([]byte{byte(r.next())}, r.below(60))...)
		}
		if got := expand(pieces(b)); !bytes.Equal(got, b) {
			t.Fatalf("pieces(%x) reads back as %x", b, got)
		}
	}
}

func TestTimes(t *testing.T) {
	for text, want := range map[string]int64{
		"1970-01-01":                   0,
		"1970-01-01T00:00:00.0000019Z": 1,
		"1969-12-31T23:59:59.9999999Z": -1,
		"0000-01-01":                   minTime,
		"9999-12-31T23:59:59.999999Z":  maxTime,
		"1970-01-01T01:00:00+01:00":    0,
	} {
		if got, err := parseTime(text); err != nil || got != want {
			t.Errorf("%s: %d, %v, want %d", text, got, err, want)
		}
	}
}

// TestVectorsAreCurrent makes all vectors again and compares them with spec/vectors, so that the order of a
// map in the output shows too.
func TestVectorsAreCurrent(t *testing.T) {
	if err := run("../spec", true); err != nil {
		t.Error(err)
	}
}

// TestSchemaIsCurrent makes the generated parts of the schema again.
func TestSchemaIsCurrent(t *testing.T) {
	want, err := schema("../spec")
	if err != nil {
		t.Fatal(err)
	}
	now, err := os.ReadFile("../spec/mnem.ipldsch")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(now, want) {
		t.Error("spec/mnem.ipldsch differs from the tables of SPEC.md: run go -C conformance run .")
	}
}

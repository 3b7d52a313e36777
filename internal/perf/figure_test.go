package perf

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestStats(t *testing.T) {
	var values []int64
	for i := range int64(100) {
		values = append(values, 100-i)
	}
	if got, want := statsOf(values), (Stats{100, 50, 25, 75, 99}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got, want := statsOf([]int64{7}), (Stats{1, 7, 7, 7, 7}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestUnits(t *testing.T) {
	for _, tt := range []struct {
		unit Unit
		n    int64
		want string
	}{
		{Nanoseconds, 0, "0 ns"}, {Nanoseconds, 999, "999 ns"}, {Nanoseconds, 1000, "1.00 µs"},
		{Nanoseconds, 12_345, "12.3 µs"}, {Nanoseconds, 999_999, "1.00 ms"},
		{Nanoseconds, 123_456_789, "123 ms"}, {Nanoseconds, 3_600_000_000_000, "3600 s"},
		{Bytes, 1023, "1023 B"}, {Bytes, 1536, "1.50 KiB"}, {Bytes, 400 << 20, "400 MiB"},
		{Count, 1_234_567, "1,234,567"}, {Count, -1234, "-1,234"},
	} {
		if got := tt.unit.text(tt.n); got != tt.want {
			t.Errorf("%d %s: %q, want %q", tt.n, tt.unit, got, tt.want)
		}
	}
}

func TestBounds(t *testing.T) {
	yard := &Yardstick{"y", statsOf([]int64{10})}
	for _, tt := range []struct {
		median int64
		bound  *Bound
		over   bool
	}{
		{1000, nil, false}, {30, &Bound{Times: 3}, false}, {31, &Bound{Times: 3}, true},
		{35, &Bound{Times: 3, Plus: 5}, false}, {36, &Bound{Times: 3, Plus: 5}, true},
		{7, &Bound{Most: 7}, false}, {8, &Bound{Most: 7}, true}, {8, &Bound{P99: 7}, true},
		{20, &Bound{Times: 3, Most: 19}, true},
	} {
		f := Figure{Stats: statsOf([]int64{tt.median}), Yardstick: yard, Bound: tt.bound}.judged()
		if f.Over != tt.over {
			t.Errorf("%d against %+v: over %v", tt.median, tt.bound, f.Over)
		}
	}
	if (Figure{Bound: &Bound{Most: 1}}).judged().Over {
		t.Error("what was not measured is over its bound")
	}
}

func TestSplice(t *testing.T) {
	page := "# T\n\nbefore\n\n" + BeginMark + "\nold\n" + EndMark + "\nafter\n"
	got, err := Splice(page, "new\n")
	if err != nil || got != strings.Replace(page, "old", "new", 1) {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := Splice(NewPage, "new\n"); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"", BeginMark, EndMark + BeginMark, page + page} {
		if _, err := Splice(bad, "new"); err == nil {
			t.Errorf("%q is a page", bad)
		}
	}
}

// wellFormed fails the test unless text is XML.
func wellFormed(t *testing.T, text string) (elements int) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return elements
		}
		if err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		if _, ok := token.(xml.StartElement); ok {
			elements++
		}
	}
}

func TestCharts(t *testing.T) {
	c := chart{title: `a < "b" & c`, xName: "nodes", yText: Nanoseconds.tick, curves: []curve{
		{"one <point>", []point{{1000, 5}}},
		{"many", []point{{1000, 1e3}, {10_000, 2e6}, {1_000_000, 3e9}}},
		{"flat", []point{{1000, 1000}, {1_000_000, 1000}}},
	}}
	text := c.svg()
	if n := wellFormed(t, text); n < 20 {
		t.Errorf("%d elements", n)
	}
	for _, bad := range []string{"NaN", "Inf", "<point>"} {
		if strings.Contains(text, bad) {
			t.Errorf("%s in %s", bad, text)
		}
	}
	alone := chart{yText: Bytes.tick, curves: []curve{{"x", []point{{1000, 1000}}}}}
	if text := alone.svg(); strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
		t.Error(text)
	}
}

package perf

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Unit is what a figure counts.
type Unit string

// The units of figures.
const (
	Nanoseconds Unit = "ns"
	Bytes       Unit = "bytes"
	Count       Unit = "count"
)

// Stats sums up the values of some runs: nearest-rank quantiles.
type Stats struct {
	Runs   int   `json:"runs"`
	Median int64 `json:"median"`
	Low    int64 `json:"q1"` // a quarter is not above
	High   int64 `json:"q3"`
	P99    int64 `json:"p99"`
}

// statsOf sums up values, of which there is at least one.
func statsOf(values []int64) Stats {
	v := slices.Sorted(slices.Values(values))
	at := func(percent int) int64 { return v[max(0, (len(v)*percent+99)/100-1)] }
	return Stats{Runs: len(v), Median: at(50), Low: at(25), High: at(75), P99: at(99)}
}

// Figure is one thing that was measured at one size.
type Figure struct {
	Group string `json:"group"` // the measurement it is of
	Name  string `json:"name"`
	Unit  Unit   `json:"unit"`
	Stats
	// Yardstick is what was measured in turns with it, nil for nothing.
	Yardstick *Yardstick `json:"yardstick,omitempty"`
	Bound     *Bound     `json:"bound,omitempty"` // nil for none
	Over      bool       `json:"over"`            // whether it is over its bound
	// Why says why there is no value; Runs is 0 then.
	Why string `json:"not_measured,omitempty"`
}

// Yardstick is the least that the same work can cost.
type Yardstick struct {
	Name string `json:"name"`
	Stats
}

// Bound is what a figure shall keep to. What is zero bounds nothing.
type Bound struct {
	Times float64 `json:"times,omitempty"` // of the yardstick's median
	Plus  int64   `json:"plus,omitempty"`  // beyond these times
	Most  int64   `json:"most,omitempty"`  // of the median
	P99   int64   `json:"p99,omitempty"`   // of the 99th percentile
	// Spread is of the 99th percentile too, in medians.
	Spread float64 `json:"spread,omitempty"`
	None   bool    `json:"none,omitempty"` // it shall be 0
}

// Times is the figure in yardsticks, 0 without one.
func (f *Figure) Times() float64 {
	if f.Yardstick == nil || f.Yardstick.Median == 0 {
		return 0
	}
	return float64(f.Median) / float64(f.Yardstick.Median)
}

// judged returns the figure with Over as it is.
func (f Figure) judged() Figure {
	b := f.Bound
	if b == nil || f.Runs == 0 {
		return f
	}
	over := b.None && f.Median > 0 || b.Most > 0 && f.Median > b.Most || b.P99 > 0 && f.P99 > b.P99
	if f.Yardstick != nil && b.Times > 0 {
		over = over || float64(f.Median-b.Plus) > b.Times*float64(f.Yardstick.Median)
	}
	if b.Spread > 0 && f.Runs >= manySamples {
		over = over || float64(f.P99) > b.Spread*float64(f.Median)
	}
	f.Over = over
	return f
}

// text says what a bound asks for.
func (b *Bound) text(u Unit) string {
	if b == nil {
		return ""
	}
	var parts []string
	if b.Times > 0 {
		s := "≤ " + strconv.FormatFloat(b.Times, 'f', -1, 64) + "×"
		if b.Plus > 0 {
			s += " + " + u.text(b.Plus)
		}
		parts = append(parts, s)
	}
	if b.Most > 0 {
		parts = append(parts, "≤ "+u.text(b.Most))
	}
	if b.P99 > 0 {
		parts = append(parts, "p99 ≤ "+u.text(b.P99))
	}
	if b.None {
		parts = append(parts, "none")
	}
	if b.Spread > 0 {
		parts = append(parts, "p99 ≤ "+strconv.FormatFloat(b.Spread, 'f', -1, 64)+" medians")
	}
	return strings.Join(parts, ", ")
}

// text is a value as people read it, of three digits.
func (u Unit) text(n int64) string {
	switch u {
	case Nanoseconds:
		return scaled(n, 1000, 60_000_000_000, "ns", "µs", "ms", "s")
	case Bytes:
		return scaled(n, 1024, math.MaxInt64, "B", "KiB", "MiB", "GiB", "TiB")
	}
	return grouped(n)
}

// scaled divides a number until it is short. From last on it is in the last unit but whole.
func scaled(n, step, last int64, units ...string) string {
	if n < 0 {
		return "-" + scaled(-n, step, last, units...)
	}
	v, at := float64(n), 0
	for v >= float64(step)*0.9995 && at < len(units)-1 {
		v /= float64(step)
		at++
	}
	digits := 2
	switch {
	case at == 0 || v >= 99.95 || n >= last:
		digits = 0
	case v >= 9.995:
		digits = 1
	}
	return fmt.Sprintf("%.*f %s", digits, v, units[at])
}

// grouped is a number with commas.
func grouped(n int64) string {
	if n < 0 {
		return "-" + grouped(-n)
	}
	s := strconv.FormatInt(n, 10)
	for at := len(s) - 3; at > 0; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}

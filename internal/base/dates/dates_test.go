package dates

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/testkit/cases"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// sunday is 2026-11-22, some time of that day.
var sunday = At(time.Date(2026, 11, 22, 17, 30, 0, 0, time.UTC).UnixMicro())

func check(t *testing.T, text string, now int64) {
	got, without := Read(text, At(now)), Read(text, Now{})
	must.True(t, len(got.Ranges) <= maxExpressions && got.Unread == 0 && without.Unread <= maxExpressions,
		"%q: %+v", text, got)
	for _, r := range got.Ranges {
		if r.From >= r.To || r.Scale <= 0 || r.From == NoFrom && r.To == NoTo {
			t.Errorf("%q: %+v", text, r)
		}
		for _, end := range []int64{r.From, r.To} {
			if end != NoFrom && end != NoTo && (end%dayMicros != 0 || end/dayMicros < -2_000_000 ||
				end/dayMicros > 5_000_000) {
				t.Errorf("%q: %+v", text, r)
			}
		}
	}
	must.True(t, got.Relative == without.Relative && got.Bare == without.Bare,
		"%q: %+v, without now %+v", text, got, without)
	must.True(t, got.Relative || fmt.Sprint(got) == fmt.Sprint(without),
		"%q: now matters: %+v, without %+v", text, got, without)
}

func FuzzRead(f *testing.F) {
	for _, text := range []string{
		"between March and May 2023", "999 years after 9999-12-31", "Feb 29", "2 weekends before 1000-01-01",
		"去年五月十二日之前", "last winter", "过去999年", "\xff2023-\x00年", "二十三十", "on May 7th - 2023",
	} {
		f.Add(text, int64(0))
		f.Add(text, int64(253_402_300_799_999_999))
		f.Add(text, int64(-62_167_219_200_000_000))
	}
	f.Fuzz(func(t *testing.T, text string, now int64) {
		if now < -62_167_219_200_000_000 || now > 253_402_300_799_999_999 {
			return
		}
		check(t, text, now)
	})
}

// TestLong: hostile texts take time in proportion to their length, and few allocations.
func TestLong(t *testing.T) {
	for _, part := range []string{"a", "1", "一", "十", "2023-", "may ", "last ", "上", "N days ",
		"between 2023 and ", "2023-05-07 ", "é", "\xff"} {
		text := strings.Repeat(part, 1<<16/len(part))
		start := time.Now()
		got := Read(text, sunday)
		if took := time.Since(start); took > 5*time.Second || len(got.Ranges) > maxExpressions {
			t.Errorf("%q repeated: %s, %d times", part, took, len(got.Ranges))
		}
	}
}

// TestTokensBounded: the first tokens of a text equal those of a complete read.
func TestTokensBounded(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	parts := []string{"一", "二", "十", "〇", "年", "5", "17", "may", "é", " ", ", ", "-", "?", "\u00ad", "\xff"}
	for range 3000 {
		var b strings.Builder
		for range rng.IntN(60) {
			part := parts[rng.IntN(len(parts))]
			b.WriteString(strings.Repeat(part, 1+rng.IntN(4)*rng.IntN(2)))
		}
		all := tokens(b.String(), b.Len())
		for _, most := range []int{0, 1, 2, 8, 32} {
			want := all[:min(len(all), most)]
			must.Same(t, tokens(b.String(), most), want, b.String(), ", ", most)
		}
	}
}

// TestLongText: text after the token limit is ignored.
func TestLongText(t *testing.T) {
	of := func(n int) float64 {
		text := strings.Repeat("`a", n)
		return testing.AllocsPerRun(10, func() { Read(text, sunday) })
	}
	if short, long := of(maxTokens), of(64*maxTokens); long > short+2 {
		t.Errorf("%v allocations for %d characters, %v for %d", short, maxTokens, long, 64*maxTokens)
	}
}

// goldenTime is a Range, its open ends left out.
type goldenTime struct {
	From   *int64 `json:"from,omitempty"`
	To     *int64 `json:"to,omitempty"`
	Length int64  `json:"length"`
}

type goldenReading struct {
	Times   []goldenTime `json:"times"`
	Bare    bool         `json:"bare"`
	FromNow bool         `json:"fromNow"`
	Unread  int          `json:"unread"`
}

// TestDatesGolden freezes the times that texts name.
func TestDatesGolden(t *testing.T) {
	cases.Golden(t, "testdata/dates.jsonl", func(t testing.TB, c cases.Case) any {
		var in struct {
			Texts []string
			Now   *int64
		}
		cases.Parse(t, c.Input, &in)
		now := Now{}
		if in.Now != nil {
			now = At(*in.Now)
		}
		all := make([]goldenReading, len(in.Texts))
		for i, text := range in.Texts {
			r := Read(text, now)
			all[i] = goldenReading{Times: []goldenTime{}, Bare: r.Bare, FromNow: r.Relative, Unread: r.Unread}
			for _, x := range r.Ranges {
				one := goldenTime{Length: x.Scale}
				if x.From != NoFrom {
					one.From = &x.From
				}
				if x.To != NoTo {
					one.To = &x.To
				}
				all[i].Times = append(all[i].Times, one)
			}
		}
		return map[string]any{"read": all}
	})
}

package dates

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// sunday is 2026-11-22, some time of that day.
var sunday = At(time.Date(2026, 11, 22, 17, 30, 0, 0, time.UTC).UnixMicro())

// show writes times as days, with an open end left out.
func show(ranges []Range) string {
	var out []string
	for _, r := range ranges {
		day := func(micros int64) string {
			if micros == NoFrom || micros == NoTo {
				return ""
			}
			return time.UnixMicro(micros).UTC().Format("2006-01-02")
		}
		out = append(out, day(r.From)+".."+day(r.To))
	}
	return strings.Join(out, " ")
}

// TestRead shows examples; the vectors of clause 6.11 cover all patterns.
func TestRead(t *testing.T) {
	for text, want := range map[string]string{
		"":                                      "",
		"who owns billing?":                     "",
		"What did we do in May 2023?":           "2023-05-01..2023-06-01",
		"lunch on May 7th, 2023 with Bob":       "2023-05-07..2023-05-08",
		"Le 7 août 2023":                        "2023-08-07..2023-08-08",
		"im Mai 2023":                           "2023-05-01..2023-06-01",
		"incident-2023-05-07-db":                "2023-05-07..2023-05-08",
		"at 2023-05-07T12:30:00Z":               "2023-05-07..2023-05-08",
		"2023年5月7日的会议":                          "2023-05-07..2023-05-08",
		"between March and May 2023":            "2023-03-01..2023-06-01",
		"from Nov to February 2023":             "2022-11-01..2023-03-01",
		"releases since 2022":                   "2022-01-01..",
		"releases before June 2023":             "..2023-06-01",
		"after 3 May 2023":                      "2023-05-04..",
		"the week before 3 May 2023":            "2023-04-26..2023-05-03",
		"last week's standup":                   "2026-11-09..2026-11-16",
		"昨天的会议":                                 "2026-11-21..2026-11-22",
		"上个月和去年":                                "2026-10-01..2026-11-01 2025-01-01..2026-01-01",
		"the day before yesterday":              "2026-11-20..2026-11-21",
		"three weeks ago":                       "2026-10-26..2026-11-02",
		"in August":                             "2026-08-01..2026-09-01",
		"in December":                           "2025-12-01..2026-01-01",
		"2023-02-30":                            "2023-02-01..2023-03-01", // the month at least
		"may I go? March on! a mars rover":      "",
		"step 5 may fail":                       "",
		"call 2023 people, error 20230507":      "",
		"port 1.2.3.4 and version 2.0, 5/7/23":  "",
		"the last test, next to this one, past": "",
		"一起去上海":                                 "",
	} {
		got := Read(text, sunday)
		if s := show(got.Ranges); s != want || got.Unread > 0 {
			t.Errorf("%q: %s, want %s", text, s, want)
		}
	}
}

func TestBare(t *testing.T) {
	for text, want := range map[string]bool{
		"":                                false,
		"what happened?":                  false,
		"what happened last week?":        true,
		"What's new since 3 May 2023":     true,
		"上周我们做了什么？":                       true,
		"2023-05-07":                      true,
		"what happened to Bob last week?": false,
		"上周的会议":                           false,
		"7 last week":                     false,
	} {
		if got := Read(text, sunday).Bare; got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestWithoutNow: absolute dates are read without a now, and relative ones counted.
func TestWithoutNow(t *testing.T) {
	got := Read("last week, on May 7 2023, and in August", Now{})
	if show(got.Ranges) != "2023-05-07..2023-05-08 2023-08-01..2023-09-01" || got.Unread != 1 ||
		!got.Relative {
		t.Errorf("%+v", got)
	}
	if got := Read("Feb 29, in 2023", Now{}); got.Relative || got.Unread > 0 || len(got.Ranges) != 1 {
		t.Errorf("%+v", got) // there is no such day
	}
}

func check(t *testing.T, text string, now int64) {
	got, without := Read(text, At(now)), Read(text, Now{})
	if len(got.Ranges) > maxExpressions || got.Unread != 0 || without.Unread > maxExpressions {
		t.Errorf("%q: %+v", text, got)
	}
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
	if got.Relative != without.Relative || got.Bare != without.Bare {
		t.Errorf("%q: %+v, without now %+v", text, got, without)
	}
	if !got.Relative && fmt.Sprint(got) != fmt.Sprint(without) {
		t.Errorf("%q: now matters: %+v, without %+v", text, got, without)
	}
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
			if got := tokens(b.String(), most); !slices.Equal(got, want) {
				t.Fatalf("%q, %d: %+v, want %+v", b.String(), most, got, want)
			}
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

package verb

import (
	"testing"
	"time"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/retrieve"
)

// clock is a host that has a time.
type clock struct {
	Host
	now graph.Time
}

func (c clock) Now() (graph.Time, error) { return c.now, nil }

func micros(t *testing.T, s string) graph.Time {
	t.Helper()
	at := must.Get(time.Parse(time.RFC3339, s))(t)
	return graph.From(at)
}

// TestInZone asks on the 23rd in Auckland, which is the 22nd in UTC and New York.
func TestInZone(t *testing.T) {
	host := clock{now: micros(t, "2026-11-22T12:30:00Z")}
	for _, c := range []struct{ zone, text, now, today, from, to string }{
		{"Pacific/Auckland", "what did we do today?", "", "2026-11-23", "2026-11-22T11:00:00Z", "2026-11-23T11:00:00Z"},
		{"Pacific/Auckland", "what did we do yesterday?", "", "2026-11-23", "2026-11-21T11:00:00Z", "2026-11-22T11:00:00Z"},
		{"America/New_York", "what did we do today?", "", "2026-11-22", "2026-11-22T05:00:00Z", "2026-11-23T05:00:00Z"},
		{"America/New_York", "in July 2026", "", "", "2026-07-01T04:00:00Z", "2026-08-01T04:00:00Z"},
		{"America/New_York", "since July 2026", "", "", "2026-07-01T04:00:00Z", ""},
		{"America/New_York", "before July 2026", "", "", "", "2026-07-01T04:00:00Z"},
		{"-05:00", "in July 2026", "", "", "2026-07-01T05:00:00Z", "2026-08-01T05:00:00Z"},
		{"Europe/London", "today", "", "2026-11-22", "", ""}, // as in UTC
		{"Europe/London", "today", "2026-07-01T23:30:00Z", "2026-07-02", "2026-07-01T23:00:00Z", "2026-07-02T23:00:00Z"},
		{"America/New_York", "today", "2026-07-02T00:00:00Z", "2026-07-02", "2026-07-02T04:00:00Z", "2026-07-03T04:00:00Z"},
		{"", "today", "", "2026-11-22", "", ""},
		{"Pacific/Auckland", "who owns billing?", "", "", "", ""},
	} {
		r := retrieve.Request{Text: c.text}
		if c.now != "" {
			r.Now = graph.At(micros(t, c.now))
		}
		if err := InZone(host, c.zone, &r); err != nil {
			t.Errorf("%s, %q: %v", c.zone, c.text, err)
			continue
		}
		var from, to string
		if len(r.Days) == 1 {
			from, to = short(r.Days[0].From), short(r.Days[0].To)
		}
		today := dayOf(r.Now)
		if today != c.today || from != c.from || to != c.to || len(r.Days) > 1 {
			t.Errorf("%s, %q: today %s, %s to %s; want %s, %s to %s", c.zone, c.text, today, from, to, c.today, c.from, c.to)
		}
		again := r
		if err := InZone(host, "Asia/Kolkata", &again); len(r.Days) > 0 && (err != nil || again.Days[0] != r.Days[0]) {
			t.Errorf("%s, %q: another zone changed the days: %v, %v", c.zone, c.text, again.Days, err)
		}
	}
}

func short(o graph.OptTime) string {
	if !o.Given {
		return ""
	}
	return o.Time.Std().Format(time.RFC3339)
}

func dayOf(o graph.OptTime) string {
	if !o.Given {
		return ""
	}
	return o.Time.Std().Format(time.DateOnly)
}

// TestUnknownZone: a zone that is not known matters only to a text with a date.
func TestUnknownZone(t *testing.T) {
	host := clock{now: 1}
	for text, refused := range map[string]bool{"who owns billing?": false, "yesterday": true, "in May 2023": true} {
		r := retrieve.Request{Text: text}
		if err := InZone(host, "Mars/Base", &r); (err != nil) != refused {
			t.Errorf("%q: %v", text, err)
		}
	}
	must.Fail(t, CheckZone("Mars/Base"), state.ErrInvalid, "unknown zone")
	must.OK(t, CheckZone("Europe/Berlin"))
}

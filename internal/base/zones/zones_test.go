package zones

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

func day(t *testing.T, date string) int64 {
	t.Helper()
	at := must.Get(time.Parse(time.DateOnly, date))(t)
	return at.Unix() / daySeconds
}

// TestBegin has days whose midnight is skipped or comes twice, and those that a zone skipped as a whole.
func TestBegin(t *testing.T) {
	for _, c := range []struct{ zone, date, want string }{
		{"", "2026-11-22", "2026-11-22T00:00:00Z"},
		{"UTC", "2026-11-22", "2026-11-22T00:00:00Z"},
		{"+02:00", "2026-11-22", "2026-11-21T22:00:00Z"},
		{"-0330", "2026-11-22", "2026-11-22T03:30:00Z"},
		{"+14", "2026-11-22", "2026-11-21T10:00:00Z"},
		{"Europe/Berlin", "2026-11-22", "2026-11-21T23:00:00Z"},
		{":Europe/Berlin", "2026-07-01", "2026-06-30T22:00:00Z"},
		{"/usr/share/zoneinfo/America/New_York", "2026-11-22", "2026-11-22T05:00:00Z"},
		{"America/New_York", "2060-07-01", "2060-07-01T04:00:00Z"}, // by the rule after the last listed change
		{"Asia/Kolkata", "2026-11-22", "2026-11-21T18:30:00Z"},
		{"America/Sao_Paulo", "2018-11-04", "2018-11-04T03:00:00Z"}, // 00:00 was 01:00
		{"America/Havana", "2026-11-01", "2026-11-01T04:00:00Z"},    // 00:00 comes again an hour later
		{"America/Toronto", "1990-10-28", "1990-10-28T04:00:00Z"},   // at 00:01 clocks went back to 23:01
		{"Pacific/Apia", "2011-12-30", "2011-12-30T10:00:00Z"},      // a day that was not there
		{"Pacific/Apia", "2011-12-31", "2011-12-30T10:00:00Z"},
		{"Europe/Berlin", "0001-01-01", "0000-12-31T23:06:32Z"}, // by the sun
		{"EST5EDT", "2026-07-01", "2026-07-01T04:00:00Z"},
	} {
		z, err := Find(c.zone)
		if err != nil {
			t.Errorf("%s: %v", c.zone, err)
			continue
		}
		at := z.Begin(day(t, c.date))
		must.Equal(t, time.UnixMicro(at).UTC().Format(time.RFC3339), c.want, c.date, " of ", c.zone, " begins")
	}
}

// TestDay asks for the day just before and at the beginning of days in every zone of the table.
func TestDay(t *testing.T) {
	names := slices.Sorted(maps.Keys(table()))
	must.Require(t, len(names) >= 500, "%d zones", len(names))
	for _, name := range names {
		z := must.Get(Find(name))(t, name)
		for _, date := range []string{"1969-12-31", "1999-02-28", "2026-03-29", "2026-10-25", "2200-06-01"} {
			d := day(t, date)
			begin := z.Begin(d)
			if before, at := z.Day(begin-1), z.Day(begin); before != d-1 || at != d {
				t.Errorf("%s: %s begins at day %d after day %d, want %d", name, date, at, before, d)
			}
		}
	}
}

func TestUnknown(t *testing.T) {
	for _, name := range []string{
		"Local", "europe/berlin", "Mars/Base", "/etc/localtime", "+25:00", "+2", "../Europe/Berlin", "Europe/",
		"CET-1CEST,M3.5.0,M10.5.0/3", " UTC", "\x00", strings.Repeat("a", maxName+1),
	} {
		must.Fail(t, must.Err(Find(name)), ErrUnknown, name)
	}
}

// TestTable freezes the table: another one makes other days of the same question.
func TestTable(t *testing.T) {
	const want = "ba0f101f726af528"
	sum := sha256.Sum256(packed)
	must.Equal(t, hex.EncodeToString(sum[:8]), want, "the table")
}

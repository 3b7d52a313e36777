package graph

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

func TestParseTime(t *testing.T) {
	cases := map[string]string{
		"1970-01-01":                            "1970-01-01T00:00:00.000000Z",
		"2024-02-29":                            "2024-02-29T00:00:00.000000Z",
		"2026-11-20T09:30:00Z":                  "2026-11-20T09:30:00.000000Z",
		"2026-11-20T09:30:00.5+01:00":           "2026-11-20T08:30:00.500000Z",
		"2026-11-20T00:00:00-23:59":             "2026-11-20T23:59:00.000000Z",
		"2026-11-20T00:00:00.1234567Z":          "2026-11-20T00:00:00.123456Z",
		"2026-11-20T00:00:00.9999999999999999Z": "2026-11-20T00:00:00.999999Z",
		"1969-12-31T23:59:59.9999999Z":          "1969-12-31T23:59:59.999999Z",
		"2026-11-20T23:59:59-00:00":             "2026-11-20T23:59:59.000000Z",
		"9999-12-31T23:59:59.999999Z":           "9999-12-31T23:59:59.999999Z",
		"0000-01-01":                            "0000-01-01T00:00:00.000000Z",
	}
	for s, want := range cases {
		got := must.Get(ParseTime(s))(t, "ParseTime(", s, ")")
		must.Equal(t, got.String(), want, "ParseTime(", s, ")")
	}
	for _, bad := range []string{
		"", "now", "2026", "2026-11", "2026-1-20", "2026-11-2", "2026-13-01", "2026-00-01",
		"2026-11-00", "2026-11-31", "2025-02-29", "2026-11-20T", "2026-11-20T09", "2026-11-20T09:30",
		"2026-11-20T09:30Z", "2026-11-20T09:30:00", "2026-11-20T9:30:00Z", "2026-11-20t09:30:00Z",
		"2026-11-20T09:30:00z", "2026-11-20 09:30:00Z", "2026-11-20T24:00:00Z",
		"2026-11-20T09:60:00Z", "2026-12-31T23:59:60Z", "2026-11-20T09:30:00.Z",
		"2026-11-20T09:30:00,5Z", "2026-11-20T09:30:00+0100", "2026-11-20T09:30:00+24:00",
		"2026-11-20T09:30:00+01:60", "2026-11-20T09:30:00Z ", " 2026-11-20", "2026-11-20T09:30:00.5",
		"+2026-11-20", "2026-11-20T-1:30:00Z", "2026-11-20T09:30:00.-5Z", "2O26-11-20",
		"9999-12-31T23:59:59-00:01", "0000-01-01T00:00:59+00:01", "10000-01-01", "-001-12-31",
	} {
		must.Fail(t, must.Err(ParseTime(bad)), ErrInvalid, "ParseTime(", bad, ")")
	}
}

// TestTimeAgainstStandard compares with the standard library for forms that both accept.
func TestTimeAgainstStandard(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := genTime().Draw(t, "time")
		got, err := ParseTime(want.String())
		must.Require(t, err == nil && got == want && From(want.Std()) == want,
			"%d reads as %d from %s, %v", want, got, want, err)
		zone := time.FixedZone("", 60*rapid.IntRange(-23*60-59, 23*60+59).Draw(t, "offset"))
		if y := want.Std().In(zone).Year(); y < 0 || y > 9999 {
			t.Skip("not four digits there")
		}
		text := want.Std().In(zone).Format("2006-01-02T15:04:05.999999999Z07:00")
		if got, err = ParseTime(text); err != nil || got != want {
			t.Fatalf("%s reads as %s, %v, want %s", text, got, err, want)
		}
	})
}

func TestOptTime(t *testing.T) {
	must.Equal(t, (OptTime{}).String(), "", "no time prints")
	must.Equal(t, At(0).String(), "1970-01-01T00:00:00.000000Z", "0 prints")
}

package graph

import (
	"encoding/json"
	"strings"
	"time"
)

// Time is a moment in microseconds since 1970-01-01T00:00:00Z, between MinTime and MaxTime.
type Time int64

// OptTime is a time that may be absent. The zero OptTime is absent.
type OptTime struct {
	Time  Time // 0 unless Given
	Given bool
}

// At returns t as an OptTime.
func At(t Time) OptTime { return OptTime{Time: t, Given: true} }

const layout = "2006-01-02T15:04:05.000000Z"

// From returns t truncated to microseconds.
func From(t time.Time) Time { return Time(t.UnixMicro()) }

// Std returns t as the standard library's type, in UTC.
func (t Time) Std() time.Time { return time.UnixMicro(int64(t)).UTC() }

// String returns t in the form of RFC 3339, in UTC, always with six digits of fraction.
func (t Time) String() string { return t.Std().Format(layout) }

// String returns the time as Time.String does, "" if it is absent.
func (o OptTime) String() string {
	if !o.Given {
		return ""
	}
	return o.Time.String()
}

// MarshalJSON writes the time as String formats it.
func (t Time) MarshalJSON() ([]byte, error) { return []byte(`"` + t.String() + `"`), nil }

// UnmarshalJSON reads what ParseTime does, as a JSON string.
func (t *Time) UnmarshalJSON(data []byte) error {
	var text string
	err := json.Unmarshal(data, &text)
	if err == nil {
		*t, err = ParseTime(text)
	}
	return err
}

// UnmarshalJSON reads a time or null.
func (o *OptTime) UnmarshalJSON(data []byte) error {
	*o = OptTime{Given: string(data) != "null"}
	if !o.Given {
		return nil
	}
	return o.Time.UnmarshalJSON(data)
}

// MarshalJSON writes the time as String formats it, null if it is absent.
func (o OptTime) MarshalJSON() ([]byte, error) {
	if !o.Given {
		return []byte("null"), nil
	}
	return o.Time.MarshalJSON()
}

// ParseTime reads a time of RFC 3339 ("2026-11-20T09:30:00.5+01:00"; T and Z in upper case, no leap second), whose
// fraction is truncated to microseconds, or a date ("2026-11-20"), which means 00:00 UTC. Unlike the standard
// library's, it accepts no other spelling.
func ParseTime(s string) (Time, error) {
	t, ok := parseTime(s)
	if !ok {
		return 0, Fieldf("", "%s is not a time: want RFC 3339 or YYYY-MM-DD", quote(s))
	}
	if t < MinTime || t > MaxTime {
		return 0, Fieldf("", "%s is outside %s to %s", quote(s), MinTime, MaxTime)
	}
	return t, nil
}

func parseTime(s string) (Time, bool) {
	if len(s) == len(time.DateOnly) {
		s += "T00:00:00Z"
	}
	t, err := time.Parse(time.RFC3339, s)
	// Parse also takes an hour of one digit, a comma before the fraction, and offsets of a day and more.
	if err != nil || s[len("2006-01-02T15")] != ':' || strings.Contains(s, ",") {
		return 0, false
	}
	zone := s[len(s)-len("07:00"):]
	return From(t), strings.HasSuffix(s, "Z") || zone[:2] < "24" && zone[3:] < "60"
}

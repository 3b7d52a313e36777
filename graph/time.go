package graph

import (
	"encoding/json"
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

const (
	microsPerSecond = 1_000_000
	fractionDigits  = 6
	dateLen         = len("2006-01-02")
	secondLen       = len("2006-01-02T15:04:05")
	zoneLen         = len("+00:00")
	layout          = "2006-01-02T15:04:05.000000Z"
)

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
	if len(s) < dateLen || s[4] != '-' || s[7] != '-' {
		return 0, false
	}
	year, ok1 := digits(s[:4], 9999)
	month, ok2 := digits(s[5:7], 12)
	day, ok3 := digits(s[8:10], 31)
	midnight := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	// Date moves nonexistent days, like February 30, into the next month.
	if !ok1 || !ok2 || !ok3 || month == 0 || midnight.Day() != day {
		return 0, false
	}
	if len(s) == dateLen {
		return Time(midnight.UnixMicro()), true
	}
	micros, ok := parseClock(s[dateLen:])
	return Time(midnight.UnixMicro()) + micros, ok
}

// parseClock parses the part after the date, from its T, and returns the microseconds since 00:00 UTC of that date.
func parseClock(s string) (Time, bool) {
	if len(s) <= secondLen-dateLen || s[0] != 'T' || s[3] != ':' || s[6] != ':' {
		return 0, false
	}
	hour, ok1 := digits(s[1:3], 23)
	minute, ok2 := digits(s[4:6], 59)
	second, ok3 := digits(s[7:9], 59)
	micros, rest, ok4 := parseFraction(s[9:])
	offset, ok5 := parseZone(rest)
	seconds := (hour*60+minute-offset)*60 + second
	return Time(seconds)*microsPerSecond + micros, ok1 && ok2 && ok3 && ok4 && ok5
}

func parseFraction(s string) (micros Time, rest string, ok bool) {
	if s[0] != '.' {
		return 0, s, true
	}
	n := 1
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		if n <= fractionDigits {
			micros = micros*10 + Time(s[n]-'0')
		}
		n++
	}
	for i := n; i <= fractionDigits; i++ {
		micros *= 10
	}
	return micros, s[n:], n > 1
}

// parseZone returns the offset from UTC in minutes.
func parseZone(s string) (int, bool) {
	if s == "Z" {
		return 0, true
	}
	if len(s) != zoneLen || s[3] != ':' || (s[0] != '+' && s[0] != '-') {
		return 0, false
	}
	hours, ok1 := digits(s[1:3], 23)
	minutes, ok2 := digits(s[4:6], 59)
	offset := hours*60 + minutes
	if s[0] == '-' {
		offset = -offset
	}
	return offset, ok1 && ok2
}

// digits parses a decimal number of only digits, at most high.
func digits(s string, high int) (int, bool) {
	n := 0
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + int(s[i]-'0')
	}
	return n, n <= high
}

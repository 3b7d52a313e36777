package graph

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mnem-project/mnem/ipld"
)

// Other packages use the exported checks for their records, so that all report errors alike.

// CheckText returns a *FieldError unless s is UTF-8 of low to high bytes.
func CheckText(field, s string, low, high int) error {
	if len(s) < low {
		return Fieldf(field, "must not be empty")
	}
	if len(s) > high {
		return Fieldf(field, "%d bytes, limit %d", len(s), high)
	}
	if !utf8.ValidString(s) {
		return Fieldf(field, "not valid UTF-8")
	}
	return nil
}

// checkName checks a string that a tree key or a hash contains with NUL as terminator.
func checkName(field, s string, high int) error {
	if err := CheckText(field, s, 1, high); err != nil {
		return err
	}
	if strings.IndexByte(s, 0) >= 0 {
		return Fieldf(field, "must not contain NUL")
	}
	return nil
}

// CheckLine returns a *FieldError unless s is UTF-8 of low to high bytes without control
// characters: a name that is printed in one line.
func CheckLine(field, s string, low, high int) error {
	if err := CheckText(field, s, low, high); err != nil {
		return err
	}
	if strings.ContainsFunc(s, isControl) {
		return Fieldf(field, "must not contain control characters")
	}
	return nil
}

// isControl reports whether r is a C0 or C1 control character or DEL: a fixed set, unlike the Unicode tables of
// changing versions.
func isControl(r rune) bool { return r < 0x20 || r >= 0x7f && r < 0xa0 }

// CheckTime returns a *FieldError unless t is within the range of times.
func CheckTime(field string, t Time) error {
	if t < MinTime || t > MaxTime {
		return Fieldf(field, "%d µs is outside %d to %d", int64(t), int64(MinTime), int64(MaxTime))
	}
	return nil
}

// checkSpan checks the two ends of a validity.
func checkSpan(from, to OptTime) error {
	err := cmp.Or(CheckTime("validFrom", from.Time), CheckTime("validTo", to.Time))
	if err == nil && from.Given && to.Given && to.Time <= from.Time {
		err = Fieldf("validTo", "%s is not after validFrom %s", to.Time, from.Time)
	}
	return err
}

func checkSources(sources []string) error {
	if len(sources) > MaxSources {
		return Fieldf("sources", "%d references, limit %d", len(sources), MaxSources)
	}
	for _, s := range sources {
		if err := CheckText("sources", s, 1, MaxSource); err != nil {
			return err
		}
	}
	return nil
}

// checkCues checks the cues of a node: distinct lines of text.
func checkCues(cues []string) error {
	if len(cues) > MaxCues {
		return Fieldf("cues", "%d of them, limit %d", len(cues), MaxCues)
	}
	for i, s := range cues {
		if err := CheckLine("cues", s, 1, MaxCue); err != nil {
			return err
		}
		if slices.Contains(cues[:i], s) {
			return Fieldf("cues", "%s is there twice", quote(s))
		}
	}
	return nil
}

func checkID(field string, id ID) error {
	if id.IsZero() {
		return Fieldf(field, "the id of all zeros identifies nothing")
	}
	return nil
}

// CheckLink returns a *FieldError unless c is defined and has the codec.
func CheckLink(field string, c ipld.CID, codec ipld.Codec) error {
	if !c.Defined() {
		return Fieldf(field, "missing")
	}
	if c.Codec() != codec {
		return Fieldf(field, "link to a block of codec 0x%x, want 0x%x", c.Codec(), codec)
	}
	return nil
}

// CheckExtra returns a *FieldError unless the unknown fields of a record are in canonical order, can be encoded and
// do not have the names of known fields.
func CheckExtra(extra []ipld.Entry, known []string) error {
	var m meter
	return m.extra(extra, known)
}

package graph

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mnem-project/mnem/internal/base/vector"
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

// CheckOptLink returns a *FieldError unless c is undefined or links to a record.
func CheckOptLink(field string, c ipld.CID) error {
	if !c.Defined() {
		return nil
	}
	return CheckLink(field, c, ipld.DagCBOR)
}

// CheckExtra returns a *FieldError unless the unknown fields of a record are in canonical order, can be encoded and
// do not have the names of known fields.
func CheckExtra(extra []ipld.Entry, known []string) error {
	var m meter
	return m.extra(extra, known)
}

// ErrInvalid marks every error about a record or change that breaks a rule of the format.
var ErrInvalid = errors.New("invalid record or change")

// FieldError says which field of a record, or member of a change, was refused and why.
// errors.Is(err, ErrInvalid) holds.
type FieldError struct {
	Field  string // as in "summary", "props.team" or "node.content.media"
	Reason string
}

func (e *FieldError) Error() string {
	if e.Field == "" {
		return e.Reason
	}
	return e.Field + ": " + e.Reason
}

// Is reports whether target is ErrInvalid.
func (e *FieldError) Is(target error) bool { return target == ErrInvalid }

// Fieldf returns a *FieldError with a formatted reason.
func Fieldf(field, format string, args ...any) error {
	return &FieldError{Field: field, Reason: fmt.Sprintf(format, args...)}
}

// within prefixes the field of err, a *FieldError or nil, with the name of an enclosing object.
func within(outer string, err error) error {
	fe, ok := err.(*FieldError)
	if !ok {
		return err
	}
	if fe.Field == "" || outer == "" {
		return &FieldError{Field: outer + fe.Field, Reason: fe.Reason}
	}
	return &FieldError{Field: outer + "." + fe.Field, Reason: fe.Reason}
}

// Limits of the records, in bytes unless said otherwise. They are part of the format: clause 3 of the specification.
const (
	// MaxKey is the longest key of a node or edge: a path or URL fits, and a tree key stays far below the limit of
	// trees.
	MaxKey = 512
	// MaxType is the longest type.
	MaxType = 255
	// MaxPropName is the longest property name.
	MaxPropName = 255
	// MaxProps is the largest number of properties of one node or edge.
	MaxProps = 1000
	// MaxPropDepth is the deepest nesting of lists and maps in one property's value.
	MaxPropDepth = 32
	// MaxText is the longest summary and the longest context: together they leave half of a block for the rest.
	MaxText = 256 << 10
	// MaxInline is the longest content stored in its record: records, which are read often, stay small.
	MaxInline = 32 << 10
	// MaxContent is the longest content.
	MaxContent = 64 << 20
	// MaxMedia is the longest media type.
	MaxMedia = 255
	// MaxSources is the largest number of sources.
	MaxSources = 64
	// MaxSource is the longest source.
	MaxSource = 1024
	// MaxCues is the largest number of cues.
	MaxCues = 12
	// MaxCue is the longest cue.
	MaxCue = 256
	// MaxReason is the longest reason of a mark.
	MaxReason = 4096
	// MaxActor is the longest name of an actor or author.
	MaxActor = 255
	// MaxModel is the longest name of an embedding model.
	MaxModel = vector.MaxModel
	// MaxDims is the largest number of dimensions of a dense vector.
	MaxDims = vector.MaxDims
	// MaxTerms is the largest number of terms of a sparse vector. With keys that is twice as many items, half of
	// what one block may hold.
	MaxTerms = 1 << 15
	// MaxTerm is the longest term of a sparse vector.
	MaxTerm = 255
	// MaxRefName is the longest name of a ref after its namespace.
	MaxRefName = 255
	// MaxImportName is the longest name of an import in bytes. A whole ref name follows it.
	MaxImportName = 100
	// MaxLine is the longest line of changes, without its line end.
	MaxLine = 4 << 20
	// MinTime is the earliest time, 0000-01-01T00:00:00Z. MinTime and MaxTime bound what RFC 3339 can express, so
	// that 9999-12-31, which people use for "forever", is an ordinary time.
	MinTime Time = -62_167_219_200_000_000
	// MaxTime is the latest time, 9999-12-31T23:59:59.999999Z.
	MaxTime Time = 253_402_300_799_999_999
	// MaxCount is the largest count of a tree's entries: an integer that every JSON reader represents exactly.
	MaxCount = 1<<53 - 1
	// MaxWeight is the weight 1.0 of an edge, the largest and the default.
	MaxWeight = 1 << 16
)

// Package zones tells when days begin in a time zone. The rules of zones come from a table in the program, never from
// the machine: those of two machines may differ. zones.bin has the names and TZif rules of the IANA database.
package zones

import (
	"bytes"
	"compress/flate"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

//go:generate go run ./gen

//go:embed zones.bin
var packed []byte

// ErrUnknown is returned for a name that is no zone.
var ErrUnknown = errors.New("not a time zone")

// maxName is the length of the longest name of a zone that is looked up, in bytes.
const maxName = 64

// Zone is a time zone.
type Zone struct {
	name string
	loc  *time.Location
}

// Find returns the zone of an IANA name like Europe/Berlin, or of an offset like +02:00, as the configuration or the
// variable TZ have it: a colon before the name and the directory of a zone's file do not count, and "" is UTC. The
// error wraps ErrUnknown.
func Find(name string) (*Zone, error) {
	short := strings.TrimPrefix(name, ":")
	if _, after, ok := strings.Cut(short, "/zoneinfo/"); ok {
		short = after
	}
	if len(short) > maxName {
		return nil, fmt.Errorf("%w: a name of %d bytes", ErrUnknown, len(short))
	}
	if short == "" || short == "UTC" || short == "Z" {
		return &Zone{"UTC", time.UTC}, nil
	}
	if seconds, ok := offset(short); ok {
		return &Zone{short, time.FixedZone(short, seconds)}, nil
	}
	rules, ok := table()[short]
	if !ok {
		return nil, fmt.Errorf("%w: %q: want a name like Europe/Berlin or an offset like +02:00", ErrUnknown, name)
	}
	loc, err := time.LoadLocationFromTZData(short, rules)
	if err != nil {
		return nil, fmt.Errorf("read the rules of %s: %w", short, err)
	}
	return &Zone{short, loc}, nil
}

// offset reads an offset from UTC as +HH, +HHMM or +HH:MM, in seconds.
func offset(s string) (seconds int, ok bool) {
	for _, layout := range []string{"-07:00", "-0700", "-07"} {
		if t, err := time.Parse(layout, s); err == nil {
			_, seconds = t.Zone()
			return seconds, true
		}
	}
	return 0, false
}

// table has the rules of all zones by their names.
var table = sync.OnceValue(func() map[string][]byte {
	data, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
	if err != nil {
		return nil // it is in the program, and a test reads it
	}
	all := map[string][]byte{}
	next := func() []byte {
		n, size := binary.Uvarint(data)
		out := data[size : size+int(n)]
		data = data[size+int(n):]
		return out
	}
	for len(data) > 0 {
		name, rules := string(next()), next()
		if len(rules) == 0 {
			rules = all[string(next())]
		}
		all[name] = rules
	}
	return all
})

const daySeconds = 24 * 60 * 60

// Begin returns when a day begins, in microseconds since 1970-01-01T00:00:00Z: the first moment at which clocks of the
// zone show it. Days are counted from 1970-01-01.
func (z *Zone) Begin(day int64) int64 {
	const most = 26 * 60 * 60 // no zone is further from UTC
	midnight := day * daySeconds
	at := time.Unix(midnight-most, 0).In(z.loc)
	for {
		from, to := at.ZoneBounds()
		_, ahead := at.Zone()
		begin := midnight - int64(ahead)
		if !from.IsZero() && begin < from.Unix() {
			begin = from.Unix() // clocks went over midnight
		}
		if to.IsZero() || begin < to.Unix() {
			return begin * 1_000_000
		}
		at = to
	}
}

// Day returns the day that clocks of the zone show at a time in microseconds since 1970-01-01T00:00:00Z.
func (z *Zone) Day(micros int64) int64 {
	at := time.UnixMicro(micros).In(z.loc)
	_, ahead := at.Zone()
	seconds := at.Unix() + int64(ahead)
	day := seconds / daySeconds
	if seconds%daySeconds < 0 {
		day--
	}
	return day
}

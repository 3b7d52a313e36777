package main

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var (
	nodeMembers = []string{"key", "id", "type", "summary", "context", "cues", "props", "content",
		"created", "validFrom", "validTo", "sources", "unset", "replace"}
	edgeMembers = []string{"type", "src", "dst", "key", "id", "weight", "props", "created",
		"validFrom", "validTo", "sources", "unset", "replace"}
	nodeUnset = []string{"summary", "context", "content", "cues", "validFrom", "validTo", "sources"}
	edgeUnset = []string{"validFrom", "validTo", "sources", "weight"}
	uuidShape = regexp.MustCompile(
		`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`)
	timeShape = regexp.MustCompile(`^(\d{4})-(\d\d)-(\d\d)` +
		`(?:T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:Z|([+-])(\d\d):(\d\d)))?$`)
)

func has(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// members checks that v is an object with no member outside allowed and none that is null.
func members(v any, allowed []string) (dict, error) {
	o, ok := v.(dict)
	if !ok {
		return nil, fail("type", "no object")
	}
	for _, name := range sortedKeys(o) {
		if !has(allowed, name) {
			return nil, fail("member", "the member %s", name)
		}
		if o[name] == nil {
			return nil, fail("type", "null in %s", name)
		}
	}
	return o, nil
}

// parseLine reads a line into the name and the object of its one member.
func parseLine(line string) (string, dict, error) {
	v, err := parseJSON(line)
	if err != nil {
		return "", nil, err
	}
	o, err := members(v, []string{"node", "edge", "embedding", "mark", "remove"})
	if err != nil {
		return "", nil, err
	}
	if len(o) != 1 {
		return "", nil, fail("member", "%d members", len(o))
	}
	for name, inner := range o {
		d, ok := inner.(dict)
		if !ok {
			return "", nil, fail("type", "%s is no object", name)
		}
		return name, d, nil
	}
	return "", nil, nil
}

// stringIn reads an optional string member of lo to hi bytes.
func stringIn(o dict, name string, lo, hi int) (string, bool, error) {
	v, given := o[name]
	if !given {
		return "", false, nil
	}
	s, ok := v.(string)
	if !ok {
		return "", true, fail("type", "%s is no string", name)
	}
	if len(s) < lo || len(s) > hi {
		return "", true, fail("limit", "%s of %d bytes", name, len(s))
	}
	return s, true, nil
}

// nameIn is stringIn without NUL.
func nameIn(o dict, name string, hi int) (string, bool, error) {
	s, given, err := stringIn(o, name, 1, hi)
	if err == nil && strings.Contains(s, "\x00") {
		err = fail("name", "NUL in %s", name)
	}
	return s, given, err
}

// isControl reports whether a character is one of the control characters of clause 3.8.
func isControl(r rune) bool { return r < 0x20 || r >= 0x7f && r <= 0x9f }

// personIn reads a name of a person or agent: 1 to 255 bytes without control characters.
func personIn(o dict, name string) (string, bool, error) {
	s, given, err := stringIn(o, name, 1, 255)
	for _, r := range s {
		if isControl(r) {
			return "", true, fail("name", "a control character in %s", name)
		}
	}
	return s, given, err
}

func parseUUID(s string) (string, error) {
	if !uuidShape.MatchString(s) || strings.ToLower(s) != s {
		return "", fail("id", "no id: %s", s)
	}
	id := string(unhex(strings.ReplaceAll(s, "-", "")))
	if id == rep("\x00", 16) {
		return "", fail("id", "the id of zeros")
	}
	return id, nil
}

func idIn(o dict, name string) (string, bool, error) {
	s, given, err := stringIn(o, name, 0, 1<<20)
	if err != nil || !given {
		return "", given, err
	}
	id, err := parseUUID(s)
	return id, true, err
}

func checkNodeKey(key string) error {
	if uuidShape.MatchString(key) {
		return fail("name", "a key of the shape of a UUID")
	}
	return nil
}

// reference reads a key or an id in UUID form into the id it names.
func reference(o dict, name string) (string, error) {
	s, given, err := nameIn(o, name, 512)
	if err != nil {
		return "", err
	}
	if !given {
		return "", fail("member", "no %s", name)
	}
	if uuidShape.MatchString(s) {
		return parseUUID(s)
	}
	return nodeIDOfKey(s), nil
}

// timeIn reads an optional time member in microseconds.
func timeIn(o dict, name string) (int64, bool, error) {
	v, given := o[name]
	if !given {
		return 0, false, nil
	}
	s, ok := v.(string)
	if !ok {
		return 0, true, fail("type", "%s is no string", name)
	}
	t, err := parseTime(s)
	return t, true, err
}

// minTime and maxTime are the bounds of clause 1.3.
const (
	minTime = -62_167_219_200_000_000
	maxTime = 253_402_300_799_999_999
)

func parseTime(s string) (int64, error) {
	m := timeShape.FindStringSubmatch(s)
	if m == nil {
		return 0, fail("time", "no time: %s", s)
	}
	n := func(i int) int { x, _ := strconv.Atoi(m[i]); return x }
	if n(4) > 23 || n(5) > 59 || n(6) > 59 || n(9) > 23 || n(10) > 59 {
		return 0, fail("time", "no time: %s", s)
	}
	t := time.Date(n(1), time.Month(n(2)), n(3), n(4), n(5), n(6), 0, time.UTC)
	if int(t.Month()) != n(2) || t.Day() != n(3) {
		return 0, fail("time", "no date: %s", s)
	}
	micros, _ := strconv.ParseInt((m[7] + "000000")[:6], 10, 64)
	offset := int64(n(9)*60+n(10)) * 60_000_000
	if m[8] == "-" {
		offset = -offset
	}
	whole := t.Unix()*1_000_000 + micros - offset
	if whole < minTime || whole > maxTime {
		return 0, fail("time", "%s is out of range", s)
	}
	return whole, nil
}

func asFloat(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// fixedPoint is RoundHalfEven(x · 65,536).
func fixedPoint(x float64) float64 { return math.RoundToEven(x * 65536) }

func weightIn(o dict) (int64, bool, error) {
	v, given := o["weight"]
	if !given {
		return 0, false, nil
	}
	x, ok := asFloat(v)
	if !ok {
		return 0, true, fail("type", "a weight that is no number")
	}
	if w := fixedPoint(x); x > 0 && x <= 1 && w >= 1 {
		return int64(w), true, nil
	}
	return 0, true, fail("limit", "a weight of %v", x)
}

// depthOf is how deep lists and maps nest in v, v itself counted.
func depthOf(v any) int {
	deepest := 0
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			deepest = max(deepest, depthOf(e))
		}
		return deepest + 1
	case dict:
		for _, e := range v {
			deepest = max(deepest, depthOf(e))
		}
		return deepest + 1
	}
	return 0
}

func propsIn(o dict) (dict, error) {
	v, given := o["props"]
	if !given {
		return nil, nil
	}
	p, ok := v.(dict)
	if !ok {
		return nil, fail("type", "props that are no object")
	}
	for name, value := range p {
		if len(name) < 1 || len(name) > 255 {
			return nil, fail("limit", "a property name of %d bytes", len(name))
		}
		if depthOf(value) > 32 {
			return nil, fail("limit", "a property nested too deep")
		}
	}
	return p, nil
}

func sourcesIn(o dict) ([]any, bool, error) {
	v, given := o["sources"]
	if !given {
		return nil, false, nil
	}
	list, ok := v.([]any)
	if !ok {
		return nil, true, fail("type", "sources that are no list")
	}
	if len(list) > 64 {
		return nil, true, fail("limit", "%d sources", len(list))
	}
	for _, e := range list {
		s, ok := e.(string)
		if !ok {
			return nil, true, fail("type", "a source that is no string")
		}
		if len(s) < 1 || len(s) > 1024 {
			return nil, true, fail("limit", "a source of %d bytes", len(s))
		}
	}
	return list, true, nil
}

// cuesIn reads the member cues.
func cuesIn(o dict) ([]any, bool, error) {
	v, given := o["cues"]
	if !given {
		return nil, false, nil
	}
	list, ok := v.([]any)
	if !ok {
		return nil, true, fail("type", "cues that are no list")
	}
	if len(list) > 12 {
		return nil, true, fail("limit", "%d cues", len(list))
	}
	seen := map[string]bool{}
	for _, e := range list {
		s, ok := e.(string)
		switch {
		case !ok:
			return nil, true, fail("type", "a cue that is no string")
		case len(s) < 1 || len(s) > 256:
			return nil, true, fail("limit", "a cue of %d bytes", len(s))
		case strings.ContainsFunc(s, isControl):
			return nil, true, fail("name", "a control character in a cue")
		case seen[s]:
			return nil, true, fail("limit", "the cue %s twice", s)
		}
		seen[s] = true
	}
	return list, true, nil
}

// contentIn reads the member content: its text and media type.
func contentIn(o dict) (text, media string, given bool, err error) {
	v, given := o["content"]
	if !given {
		return "", "", false, nil
	}
	c, isObject := v.(dict)
	if !isObject {
		text, _, err = stringIn(o, "content", 0, 1<<26)
		return text, "", true, err
	}
	if c, err = members(c, []string{"text", "media"}); err != nil {
		return "", "", true, err
	}
	text, hasText, err := stringIn(c, "text", 0, 1<<26)
	if err == nil && !hasText {
		err = fail("member", "content without text")
	}
	if err == nil {
		media, _, err = stringIn(c, "media", 1, 255)
	}
	return text, media, true, err
}

func boolIn(o dict, name string) (bool, error) {
	v, given := o[name]
	b, ok := v.(bool)
	if given && !ok {
		return false, fail("type", "%s is no boolean", name)
	}
	return b, nil
}

// unsetIn reads the member unset: names of fields and of properties.
func unsetIn(o dict, allowed []string) (fields, props []string, err error) {
	v, given := o["unset"]
	if !given {
		return nil, nil, nil
	}
	list, ok := v.([]any)
	if !ok {
		return nil, nil, fail("type", "unset that is no list")
	}
	for _, e := range list {
		s, ok := e.(string)
		if !ok {
			return nil, nil, fail("type", "an item of unset that is no string")
		}
		if name, isProp := strings.CutPrefix(s, "props."); isProp && name != "" {
			props = append(props, name)
		} else if has(allowed, s) {
			fields = append(fields, s)
		} else {
			return nil, nil, fail("member", "unset of %s", s)
		}
	}
	return fields, props, nil
}

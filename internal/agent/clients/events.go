package clients

import (
	"slices"
	"strings"
)

// maxEvent bounds the length of a word that is taken for an event, in bytes.
const maxEvent = 64

// eventWord reports whether a word of a command can be meant as an event: a shell changes nothing in it.
func eventWord(word string) bool {
	odd := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' && r != '.'
	}
	return word != "" && len(word) <= maxEvent && !strings.ContainsFunc(word, odd)
}

// ownEvents are the events by their own names, which every host may use.
var ownEvents = []string{sessionStart, prompt, stop, compact, sessionEnd}

// eventOf returns the event that a command spells by its own name or the host's, "" if there is none.
func (f hookFormat) eventOf(spelled string) string {
	for _, e := range f.events {
		if e.name == spelled {
			return e.event
		}
	}
	if slices.Contains(ownEvents, spelled) {
		return spelled
	}
	return ""
}

// UnknownEvent is an event that a command of ours names and that does not exist.
type UnknownEvent struct {
	Name    string
	Nearest string // known event, as this program or the host spells it
}

// unknown returns an UnknownEvent with the known event nearest to it: by the fewest edits of letters and digits alone,
// then of all characters, then the first one.
func (f hookFormat) unknown(spelled string) UnknownEvent {
	names := slices.Clone(ownEvents)
	for _, e := range f.events {
		names = append(names, e.name)
	}
	return UnknownEvent{spelled, slices.MinFunc(names, func(a, b string) int {
		if d := edits(folded(spelled), folded(a)) - edits(folded(spelled), folded(b)); d != 0 {
			return d
		}
		return edits(spelled, a) - edits(spelled, b)
	})}
}

// folded is an event's name without upper case and punctuation.
func folded(name string) string {
	return strings.NewReplacer("-", "", "_", "", ".", "").Replace(strings.ToLower(name))
}

// edits returns how many bytes must be added, removed or replaced to turn one text into another.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := before
			if a[i] != b[j] {
				replaced++
			}
			before = row[j+1]
			row[j+1] = min(replaced, before+1, row[j]+1)
		}
	}
	return row[len(b)]
}

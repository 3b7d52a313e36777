package text

import "unicode/utf8"

// classMask selects the class in a class table entry; the rest is foldFlag.
const classMask = foldFlag - 1

// Variation selectors lie so far beyond all other characters that the tables end before them.
const (
	firstSelector = 0xE0100
	lastSelector  = 0xE01EF
)

// entryOf returns the class of r together with foldFlag.
func entryOf(r rune) uint8 {
	if r < tableLimit {
		return classBlocks[int(classIndex[r>>blockShift])<<blockShift|int(r&(1<<blockShift-1))]
	}
	if r >= firstSelector && r <= lastSelector {
		return classIgnored
	}
	return classSeparator
}

// foldOf returns the fold of a code point whose entry has foldFlag.
func foldOf(r rune) string {
	at := foldBlocks[int(foldIndex[r>>blockShift])<<blockShift|int(r&(1<<blockShift-1))]
	n := uint(foldData[at])
	return foldData[uint(at)+1 : uint(at)+1+n]
}

// isWordClass reports whether class is a word class.
func isWordClass(class uint8) bool { return class >= classLetter && class <= classDigit }

// decode returns the code point at s[i:], its entry and its width in bytes. A byte that is not
// UTF-8 decodes as U+FFFD with width 1, which the tables call a separator.
func decode(s string, i int) (r rune, entry uint8, width int) {
	if c := s[i]; c < utf8.RuneSelf {
		return rune(c), entryOf(rune(c)), 1
	}
	r, width = utf8.DecodeRuneInString(s[i:])
	return r, entryOf(r), width
}

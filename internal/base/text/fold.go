package text

// CharClass is the kind of a code point for readers of single characters.
type CharClass uint8

// The kinds: those classes of clause 6.3 that matter to other packages.
const (
	KindOther  CharClass = iota // separates words
	KindLetter                  // part of a word
	KindDigit
	KindSingle // of a script written without spaces between words
)

// EachFolded calls yield with the code points of s except ignored ones, in order and until yield returns false:
// start and end of each, its kind, and its fold, or itself if it is KindOther. A byte that is not UTF-8 is
// KindOther and yields U+FFFD. It does not allocate.
func EachFolded(s string, yield func(at, end int, kind CharClass, fold string) bool) {
	for pos := 0; pos < len(s); {
		r, entry, width := decode(s, pos)
		end := pos + width
		class := entry & classMask
		kind := KindOther
		switch {
		case class == classIgnored:
			pos = end
			continue
		case class == classDigit:
			kind = KindDigit
		case isWordClass(class):
			kind = KindLetter
		case class >= classHan && class != classEmoji:
			kind = KindSingle
		}
		fold := s[pos:end]
		if r == '\uFFFD' {
			fold = "\uFFFD"
		}
		if kind != KindOther && entry&foldFlag != 0 {
			fold = foldOf(r)
		}
		if !yield(pos, end, kind, fold) {
			return
		}
		pos = end
	}
}

// IsStopWord reports whether the English analyser drops a folded word.
func IsStopWord(word string) bool { return isStopWord(word) }

package text

// Kind is what a code point is to a reader of single characters.
type Kind uint8

// The kinds there are: of the classes of clause 6.3, those that matter beside others.
const (
	KindOther  Kind = iota // separates words
	KindLetter             // part of a word
	KindDigit
	KindSingle // of a script written without spaces between words
)

// EachFolded calls yield with the code points of s but the ignored ones, in order and until yield
// returns false: where each
// begins and ends, its kind, and its fold, or itself where it is of KindOther. A byte that is not
// UTF-8 is of KindOther and yields U+FFFD. It does not allocate but for what yield keeps.
func EachFolded(s string, yield func(at, end int, kind Kind, fold string) bool) {
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
		case class >= classHan:
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

// IsStopWord reports whether a folded word is one of those that the analyser of English drops.
func IsStopWord(word string) bool { return isStopWord(word) }

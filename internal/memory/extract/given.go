package extract

import (
	"strings"

	"github.com/mnem-project/mnem/internal/base/text"
)

const maxFullName = 4 // words of a person's name

// notGiven are the lists of words that no name of a person has.
var notGiven = []string{"technologies", "technology context", "generic", "calendar", "companies and products"}

// GivenName returns the folded first word of a text that may be the full name of a person: two to four words of letters
// with capitals, none known as something else. Otherwise it returns "".
func GivenName(full string) string {
	list := strings.Fields(full)
	if len(list) < 2 || len(list) > maxFullName {
		return ""
	}
	for i, w := range list {
		small := i > 0 && i < len(list)-1 && (allLists().by["particles"][Fold(w)] ||
			allLists().by["second particles"][Fold(w)])
		if !small && (!capital(w) || FirstName(w) == "") {
			return ""
		}
	}
	return Fold(list[0])
}

// FirstName returns a folded word if it may be the first name of a person, else "".
func FirstName(word string) string {
	folded, other := Fold(word), false
	text.EachFolded(word, func(_, _ int, kind text.CharClass, fold string) bool {
		other = kind == text.KindDigit || kind == text.KindOther && !strings.Contains("-'’.", fold)
		return !other
	})
	if folded == "" || other {
		return ""
	}
	for _, list := range notGiven {
		if allLists().by[list][folded] {
			return ""
		}
	}
	return folded
}

// capital reports whether a word begins with a capital.
func capital(word string) (is bool) {
	text.Plain.EachSurface(word, func(s text.Surface) bool {
		is = s.Start == 0 && s.Capital
		return false
	})
	return is
}

package dates

import (
	"strings"

	"github.com/mnem-project/mnem/internal/base/text"
)

// asking are words that, like stop words, carry no meaning beyond asking.
var asking = func() map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields("anything d date didn doesn don everything going happen " +
		"happened happening happens isn list ll m new news occurred please re recap s show something " +
		"summarise summarize summary t tell time ve wasn weren went") {
		out[w] = true
	}
	return out
}()

// askingChars are Chinese characters of the same kind.
const askingChars = "发生了什么發麼事情做过過有的我们們你您是吗嗎呢些干那这這在时時候间間请請告诉訴"

// asksNothing reports whether a text has no content besides its time expressions.
func (r *reader) asksNothing(list []*expression) bool {
	at := 0
	for _, e := range list {
		if !silent(r.list[at:e.from]) {
			return false
		}
		at = e.to
	}
	return silent(r.list[at:])
}

func silent(list []token) bool {
	for _, t := range list {
		switch {
		case t.digits > 0:
			return false
		case t.word && !asking[t.s] && !text.IsStopWord(t.s):
			return false
		case t.single && !strings.Contains(askingChars, t.s):
			return false
		}
	}
	return true
}

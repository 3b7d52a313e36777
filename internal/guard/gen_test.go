package guard

import (
	"math/rand/v2"
	"regexp/syntax"
	"strings"
)

// sample returns a text that a pattern matches, with random letters and digits where it allows a choice, so that no
// test has a credential in its source.
func sample(r *rand.Rand, re *syntax.Regexp, b *strings.Builder) {
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		b.WriteRune(member(r, re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte('.') // most often it stands for a dot that was not escaped
	case syntax.OpCapture, syntax.OpConcat:
		for _, sub := range re.Sub {
			sample(r, sub, b)
		}
	case syntax.OpAlternate:
		sample(r, re.Sub[r.IntN(len(re.Sub))], b)
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		low, high := re.Min, re.Max
		switch re.Op {
		case syntax.OpStar:
			low, high = 0, 0
		case syntax.OpPlus:
			low, high = 1, 4
		case syntax.OpQuest:
			low, high = 0, 1
		}
		n := low
		if low == 0 && high > 20 {
			high = 0 // what may stand between: nothing
		}
		if high > low {
			n += r.IntN(min(high-low, 20) + 1)
		}
		for range n {
			sample(r, re.Sub[0], b)
		}
	}
}

// member returns a member of a class, preferring characters that people write.
func member(r *rand.Rand, class []rune) rune {
	var plain []rune
	for i := 0; i < len(class); i += 2 {
		for c := class[i]; c <= class[i+1] && c < 0x7f; c++ {
			if c > 0x20 && isRun[byte(c)] && c != '=' && c != '.' && c != '/' {
				plain = append(plain, c)
			}
		}
	}
	if len(plain) == 0 {
		return class[0]
	}
	return plain[r.IntN(len(plain))]
}

// sampleOf returns a text that a rule's pattern matches.
func sampleOf(r *rand.Rand, rule *rule) string {
	re, err := syntax.Parse(rule.ruleText.pattern, syntax.Perl)
	if err != nil {
		panic(err)
	}
	var b strings.Builder
	sample(r, re, &b)
	return b.String()
}

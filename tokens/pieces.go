package tokens

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Classes of characters in the patterns, as bits. A byte that is not UTF-8 is a symbol.
const (
	letter  = 1 << iota // \p{L}
	number              // \p{N}
	space               // \s
	newline             // CR and LF
	upper               // what o200k counts as the beginning of a word: Lu, Lt, Lm, Lo and M
	lower               // what it counts as the rest: Ll, Lm, Lo and M
)

// firstClass returns the class and the width of the first character of s, 0 and 0 at the end.
func firstClass(s string) (class, width int) {
	if s == "" {
		return 0, 0
	}
	if s[0] < utf8.RuneSelf {
		return int(ascii[s[0]]), 1
	}
	r, width := utf8.DecodeRuneInString(s)
	return classOf(r), width
}

// classOf returns the class of a character by the tables of this package: those of Go change with its releases.
func classOf(r rune) int {
	i, found := slices.BinarySearch(classStarts[:], r)
	if !found {
		i--
	}
	return int(classKinds[i])
}

// run returns the length of the characters at the beginning of s that have one of the classes.
func run(s string, classes int) (n int) {
	for {
		class, width := firstClass(s[n:])
		if width == 0 || class&classes == 0 {
			return n
		}
		n += width
	}
}

// symbols is like run for characters that are neither space, letter nor number.
func symbols(s string) (n int) {
	for {
		class, width := firstClass(s[n:])
		if width == 0 || class&(space|letter|number) != 0 {
			return n
		}
		n += width
	}
}

// cl100kPiece is the pattern
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*
//	|\s*[\r\n]+|\s+(?!\S)|\s+
func cl100kPiece(s string) int {
	if n := contraction(s); n > 0 {
		return n
	}
	class, width := firstClass(s)
	lead := 0
	if class&(newline|letter|number) == 0 {
		lead = width
	}
	if n := run(s[lead:], letter); n > 0 {
		return lead + n
	}
	return rest(s, "\r\n")
}

// o200kPiece is the pattern (in one line; U stands for \p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}, V for
// \p{Ll}\p{Lm}\p{Lo}\p{M}, C for (?i:'s|'t|'re|'ve|'m|'ll|'d))
//
//	[^\r\n\p{L}\p{N}]?[U]*[V]+C?|[^\r\n\p{L}\p{N}]?[U]+[V]*C?|\p{N}{1,3}
//	| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+
func o200kPiece(s string) int {
	class, width := firstClass(s)
	leads := []int{0}
	if class&(newline|letter|number) == 0 {
		leads = []int{width, 0}
	}
	for _, lead := range leads {
		if n := mixed(s[lead:]); n > 0 {
			n += lead
			return n + contraction(s[n:])
		}
	}
	for _, lead := range leads {
		// Where lower ones followed, the first alternative would have matched.
		if n := run(s[lead:], upper); n > 0 {
			n += lead
			return n + contraction(s[n:])
		}
	}
	return rest(s, "\r\n/")
}

// mixed is [U]*[V]+: all of U, then all of V; where no V follows, as few of U less as leave one that
// is in both.
func mixed(s string) int {
	head := run(s, upper)
	if tail := run(s[head:], lower); tail > 0 {
		return head + tail
	}
	for head > 0 {
		_, width := utf8.DecodeLastRuneInString(s[:head])
		if class, _ := firstClass(s[head-width : head]); class&lower != 0 {
			return head
		}
		head -= width
	}
	return 0
}

// rest is what both patterns end with. after are the characters that may follow symbols.
func rest(s, after string) int {
	if n := digits(s); n > 0 {
		return n
	}
	lead := 0
	if s[0] == ' ' {
		lead = 1
	}
	if n := symbols(s[lead:]); n > 0 {
		n += lead
		for n < len(s) && strings.IndexByte(after, s[n]) >= 0 {
			n++
		}
		return n
	}
	n := run(s, space)
	if at := strings.LastIndexAny(s[:n], "\r\n"); at >= 0 {
		return at + 1
	}
	_, width := utf8.DecodeLastRuneInString(s[:n])
	if n == len(s) || n == width {
		return n
	}
	return n - width // the last one goes with what follows
}

// digits is \p{N}{1,3}.
func digits(s string) (n int) {
	for range 3 {
		class, width := firstClass(s[n:])
		if class&number == 0 {
			break
		}
		n += width
	}
	return n
}

// contraction is (?i:'s|'t|'re|'ve|'m|'ll|'d), where ſ is an s too.
func contraction(s string) int {
	if len(s) < 2 || s[0] != '\'' {
		return 0
	}
	if strings.HasPrefix(s[1:], "ſ") {
		return 1 + len("ſ")
	}
	switch s[1] | 0x20 {
	case 's', 't', 'm', 'd':
		return 2
	}
	if len(s) >= 3 {
		switch string([]byte{s[1] | 0x20, s[2] | 0x20}) {
		case "re", "ve", "ll":
			return 3
		}
	}
	return 0
}

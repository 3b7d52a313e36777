package mcp

import "unicode/utf8"

// estimate returns about how many tokens a text is, on the high side: clients refuse answers that
// are too long, so that a page is rather too short. It goes by what tokenizers do with runs of
// characters: words are a token for up to seven letters, digits one for three, other ASCII
// characters one for two, and what is not ASCII one for two bytes. Runs that mix letters and digits,
// as ids and hashes do, are a token for two characters.
func estimate(s string) (n int) {
	for i := 0; i < len(s); {
		size, cost := run(s[i:])
		i += size
		n += cost
	}
	return n
}

// run returns the length and the cost of the run that a text begins with.
func run(s string) (size, cost int) {
	letters, digits, switches := 0, 0, 0
	last := byte(0)
	for size < len(s) {
		c := class(s[size])
		if c != 'a' && c != '0' {
			break
		}
		if c == 'a' {
			letters++
		} else {
			digits++
		}
		if last != 0 && c != last {
			switches++
		}
		last = c
		size++
	}
	switch {
	case size > 0 && switches > 1:
		return size, (size + 1) / 2
	case size > 0:
		return size, (letters+wordLetters-1)/wordLetters + (digits+2)/3
	case s[0] == ' ':
		return 1, 0 // belongs to the word behind it
	case s[0] < utf8.RuneSelf:
		for size < len(s) && s[size] < utf8.RuneSelf && class(s[size]) == 0 && s[size] != ' ' {
			size++
		}
		return size, (size + 1) / 2
	}
	for size < len(s) && s[size] >= utf8.RuneSelf {
		size++
	}
	return size, (size + 1) / 2
}

const wordLetters = 6 // of a token: words of English prose have 1.3 tokens at most on average

// class tells letters ('a'), digits ('0') and all else (0) of ASCII apart.
func class(c byte) byte {
	switch {
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
		return 'a'
	case c >= '0' && c <= '9':
		return '0'
	}
	return 0
}

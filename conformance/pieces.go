package main

import (
	"fmt"
	"strings"
)

// minRun is the shortest run of one byte that pieces writes as BYTE*COUNT.
const minRun = 24

// pieces writes bytes as the vector files do: lower-case hex, long runs of one byte as
// `XX*COUNT`, the parts joined by a space.
func pieces[T string | []byte](data T) string {
	b := []byte(data)
	var parts []string
	plain := 0
	flush := func(end int) {
		if end > plain {
			parts = append(parts, hx(b[plain:end]))
		}
	}
	for i := 0; i < len(b); {
		j := i + 1
		for j < len(b) && b[j] == b[i] {
			j++
		}
		if j-i >= minRun {
			flush(i)
			parts = append(parts, fmt.Sprintf("%02x*%d", b[i], j-i))
			plain = j
		}
		i = j
	}
	flush(len(b))
	return strings.Join(parts, " ")
}

func rep(s string, n int) string { return strings.Repeat(s, n) }

// expand is the inverse of pieces; the repeated part may have any number of bytes.
func expand(text string) []byte {
	var b []byte
	for _, part := range strings.Fields(text) {
		digits, times := part, 1
		if i := strings.IndexByte(part, '*'); i >= 0 {
			digits = part[:i]
			if _, err := fmt.Sscanf(part[i+1:], "%d", &times); err != nil {
				panic(err)
			}
		}
		b = append(b, strings.Repeat(string(unhex(digits)), times)...)
	}
	return b
}

package guard

import (
	"math/bits"
	"slices"
	"strings"
)

// harmless reports whether a match is no credential: too regular, in an allow list, or of another known form.
func (f *finder) harmless(r *rule, match, secret span) bool {
	text := f.s[secret.start:secret.end]
	if r.entropy > 0 && !entropyAbove(text, r.entropy) {
		return true
	}
	if isHash(text) || isIntegrity(f.s, secret) || r.level == Warns && isPublic(text) {
		return true
	}
	allows := func(list []allowance) bool {
		return slices.ContainsFunc(list, func(a allowance) bool { return a.allows(f.s, match, secret) })
	}
	return allows(f.allow) || allows(r.allowance)
}

// allows reports whether the list contains a match. Texts have no file path.
func (a *allowance) allows(s string, match, secret span) bool {
	if a.all && len(a.paths) > 0 {
		return false
	}
	text := s[secret.start:secret.end]
	target := text
	switch a.target {
	case "match":
		target = s[match.start:match.end]
	case "line":
		target = lineOf(s, match)
	}
	word := len(a.words) > 0 && slices.ContainsFunc(a.words, func(w string) bool {
		return strings.Contains(strings.ToLower(text), w)
	})
	pattern := a.any != nil && a.any.MatchString(target)
	if a.all {
		return (word || len(a.words) == 0) && (pattern || a.any == nil)
	}
	return word || pattern
}

// maxLine bounds the length of a line.
const maxLine = 1 << 10

// lineOf returns the line of a match, or the surroundings of the match in a long line.
func lineOf(s string, at span) string {
	start, end := max(0, at.start-maxLine), min(len(s), at.end+maxLine)
	if i := strings.LastIndexByte(s[start:at.start], '\n'); i >= 0 {
		start += i + 1
	}
	if i := strings.IndexByte(s[at.end:end], '\n'); i >= 0 {
		end = at.end + i
	}
	return s[start:end]
}

// entropyAbove reports whether a text has more than thousandths/1000 bits of entropy per byte.
func entropyAbove(s string, thousandths int) bool {
	if len(s) < 2 || len(s) > 1<<20 {
		return len(s) > 1
	}
	var counts [256]uint32
	for i := range len(s) {
		counts[s[i]]++
	}
	n := uint64(len(s))
	total := n * log2(uint32(n))
	for _, c := range counts {
		if c > 1 {
			total -= uint64(c) * log2(c)
		}
	}
	return total*1000 > n*uint64(thousandths)<<16
}

// log2 returns 2^16 · log2(n) rounded down, n at least 1. It is exact on every machine.
func log2(n uint32) uint64 {
	whole := bits.Len32(n) - 1
	x := uint64(n) << (31 - whole) // in [2^31, 2^32)
	out := uint64(whole)
	for range 16 {
		x = x * x >> 31 // in [2^31, 2^33)
		out <<= 1
		if x >= 1<<32 {
			x >>= 1
			out |= 1
		}
	}
	return out
}

// isHash reports whether a text is a UUID, hexadecimal digits of the length of a hash or of an abbreviated one, or
// a CID.
func isHash(s string) bool {
	digits := s
	if len(s) == 36 && s[8] == '-' && s[13] == '-' && s[18] == '-' && s[23] == '-' {
		digits = strings.ReplaceAll(s, "-", "")
	}
	if only(digits, "0123456789abcdef") || only(digits, "0123456789ABCDEF") {
		switch n := len(digits); n {
		case 32, 40, 48, 56, 64, 96, 128:
			return true
		default:
			return n <= 16
		}
	}
	switch {
	case len(s) > 50 && s[0] == 'b' && only(s[1:], "abcdefghijklmnopqrstuvwxyz234567"):
		return true
	case len(s) == 46 && s[:2] == "Qm" || len(s) > 44 && (s[:3] == "zdp" || s[:3] == "zb2"):
		return only(s, "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz")
	}
	return false
}

func only(s, digits string) bool {
	for i := range len(s) {
		if strings.IndexByte(digits, s[i]) < 0 {
			return false
		}
	}
	return s != ""
}

// integrity are the prefixes of file hashes.
var integrity = []string{"sha1", "sha224", "sha256", "sha384", "sha512", "md5", "h1", "blake2b", "blake3"}

// isIntegrity reports whether a credential is a file hash with its prefix: sha256-…
func isIntegrity(s string, at span) bool {
	const longest = len("blake2b-")
	text := s[max(0, at.start-longest):at.end]
	own := at.end - at.start // the part of text that is the credential
	for _, name := range integrity {
		for _, sign := range [...]string{"-", ":", "="} {
			if i := strings.Index(strings.ToLower(text), name+sign); i >= 0 && i <= len(text)-own {
				return true
			}
		}
	}
	return false
}

// publics are the beginnings of public keys: of SSH, of TLS and X.509 in base64, and of mnem.
var publics = []string{
	"aaaab3nzac1", "aaaac3nzac1", "aaaae2vjzhnh", "miibijanbgkqhk", "miicijanbgkqhk", "ssh-",
	"mnem-ed25519-", "age1",
}

func isPublic(s string) bool {
	s = strings.ToLower(s[:min(len(s), 16)])
	return slices.ContainsFunc(publics, func(p string) bool { return strings.HasPrefix(s, p) })
}

// IsSecret reports whether a word looks like a credential, even one that no rule knows: Find finds one in it, or it
// is long, mixed, and as irregular as the output of a random generator. It is for words that would become entities
// of their own: a false positive costs little there.
func IsSecret(word string) bool {
	if len(Find(word)) > 0 {
		return true
	}
	for _, part := range strings.FieldsFunc(word, func(r rune) bool {
		return r > 0x7f || !isRun[r] || r == '/' || r == '.' || r == '='
	}) {
		if isRandom(part) {
			return true
		}
	}
	return false
}

// minRandom is the least number of bytes of a random word, and randomBits its least entropy in thousandths of a bit
// per byte: the maximum for 20 bytes is 4,321.
const (
	minRandom  = 20
	randomBits = 3600
)

// isRandom reports whether a run alternates letters and digits, as no name does, and is irregular.
func isRandom(s string) bool {
	if len(s) < minRandom || !strings.ContainsAny(s, "0123456789") || isHash(s) || isPublic(s) ||
		!entropyAbove(s, randomBits) {
		return false
	}
	turns := 0
	for i := 1; i < len(s); i++ {
		if kind(s[i]) != kind(s[i-1]) {
			turns++
		}
	}
	return turns*3 >= len(s)
}

// kind distinguishes digits, capitals and lower-case letters.
func kind(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return 1
	case c >= 'A' && c <= 'Z':
		return 2
	case c >= 'a' && c <= 'z':
		return 3
	}
	return 0
}

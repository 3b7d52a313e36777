package clients

import "strings"

// shellWord returns a path as a word that shells read: hosts give commands to sh, and on Windows to
// what is there, where only double quotes are common to all.
func shellWord(path, system string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+@:", r)
	}
	switch {
	case strings.TrimFunc(path, plain) == "":
		return path
	case system == "windows":
		return `"` + path + `"`
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// shellUnword returns what a shell reads in a text, false if that is not one word or is not there until it runs. On
// Windows a backslash is a part of a path.
func shellUnword(text, system string) (string, bool) {
	var out strings.Builder
	quote := byte(0)
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == '\'':
			out.WriteByte(c)
		case c == '\\' && system != "windows":
			if i++; i == len(text) {
				return "", false
			}
			if quote == '"' && !strings.ContainsRune("\"\\$`", rune(text[i])) {
				out.WriteByte(c)
			}
			out.WriteByte(text[i])
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case c == '$' || c == '`' || quote == 0 && strings.ContainsRune(" \t\r\n|&;<>()", rune(c)):
			return "", false
		default:
			out.WriteByte(c)
		}
	}
	return out.String(), quote == 0
}

// powerWord returns what PowerShell runs as a program where it has the path in quotes.
func powerWord(path string) string {
	return "& '" + strings.ReplaceAll(path, "'", "''") + "'"
}

// powerUnword returns the path that a word of powerWord has, false for another text.
func powerUnword(text string) (string, bool) {
	inner, begins := strings.CutPrefix(text, "& '")
	inner, ends := strings.CutSuffix(inner, "'")
	if !begins || !ends {
		return "", false
	}
	path := strings.ReplaceAll(inner, "''", "'")
	return path, powerWord(path) == text
}

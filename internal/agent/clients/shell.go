package clients

import "strings"

// shellWord quotes a path for a shell. Hosts run commands with sh; on Windows the shell varies, and only double quotes
// work in all of them.
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

// shellUnword returns the word that a shell reads from a text. It returns false if that is not exactly one word or if
// it depends on the shell's environment. On Windows a backslash is part of a path.
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

// powerWord returns a command that makes PowerShell run a quoted path.
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

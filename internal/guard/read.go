package guard

import (
	"fmt"
	"strconv"
	"strings"
)

// ruleText is a rule as written in its file.
type ruleText struct {
	id, about, pattern string
	entropy            int // in thousandths of a bit
	group              int
	keywords           []string
	allow              []allowText
}

// allowText lists matches that are not credentials.
type allowText struct {
	target          string // what patterns are matched against: "" for the credential, match or line
	all             bool   // every condition must hold, not one of them
	patterns, words []string
	paths           []string // of files: texts of a memory have none
}

// fileText is a file of rules.
type fileText struct {
	rules []ruleText
	allow allowText
}

// readRules parses a file of rules: the subset of TOML used by gitleaks.toml. It ignores fields that have no use here.
func readRules(text string) (*fileText, error) {
	f := &fileText{}
	at := &f.allow
	var rule *ruleText
	r := lineReader{rest: text}
	for r.next() {
		var err error
		switch line := r.line; {
		case line == "[[rules]]":
			f.rules = append(f.rules, ruleText{})
			rule, at = &f.rules[len(f.rules)-1], nil
		case line == "[[rules.allowlists]]" && rule != nil:
			rule.allow = append(rule.allow, allowText{})
			at = &rule.allow[len(rule.allow)-1]
		case line == "[allowlist]":
			rule, at = nil, &f.allow
		case strings.HasPrefix(line, "["):
			err = fmt.Errorf("table %s is not known", line)
		default:
			err = r.field(rule, at)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", r.number, err)
		}
	}
	return f, nil
}

// lineReader yields lines that are neither blank nor comments.
type lineReader struct {
	rest, line string
	number     int
}

func (r *lineReader) next() bool {
	for r.rest != "" {
		r.line, r.rest, _ = strings.Cut(r.rest, "\n")
		r.number++
		r.line = strings.TrimSpace(r.line)
		if r.line != "" && r.line[0] != '#' {
			return true
		}
	}
	return false
}

// field parses the field at the beginning of the line into an allow list, or into a rule if that is nil.
func (r *lineReader) field(rule *ruleText, allow *allowText) error {
	name, value, ok := strings.Cut(r.line, " = ")
	if !ok {
		return fmt.Errorf("no value in %q", r.line)
	}
	var err error
	if allow != nil {
		switch name {
		case "regexTarget":
			allow.target, err = unquote(value)
		case "condition":
			value, err = unquote(value)
			allow.all = value == "AND"
		case "regexes":
			allow.patterns, err = r.list(value)
		case "stopwords":
			allow.words, err = r.list(value)
		case "paths":
			allow.paths, err = r.list(value)
		}
		return err
	}
	if rule == nil {
		return nil // the title of the file
	}
	switch name {
	case "id":
		rule.id, err = unquote(value)
	case "description":
		rule.about, err = unquote(value)
	case "regex":
		rule.pattern, err = unquote(value)
	case "entropy":
		rule.entropy, err = thousandths(value)
	case "secretGroup":
		rule.group, err = strconv.Atoi(value)
	case "keywords":
		rule.keywords, err = r.list(value)
	}
	return err
}

// list parses a list of strings, which may span several lines.
func (r *lineReader) list(value string) ([]string, error) {
	value, ok := strings.CutPrefix(value, "[")
	if !ok {
		return nil, fmt.Errorf("no list in %q", r.line)
	}
	var out []string
	for {
		value = strings.TrimLeft(value, ", ")
		switch {
		case value == "]":
			return out, nil
		case value == "":
			if !r.next() {
				return nil, fmt.Errorf("a list has no end")
			}
			value = r.line
		default:
			text, rest, err := firstString(value)
			if err != nil {
				return nil, err
			}
			out, value = append(out, text), rest
		}
	}
}

// firstString parses the string at the beginning of a value.
func firstString(value string) (text, rest string, err error) {
	const raw = `'''`
	if after, ok := strings.CutPrefix(value, raw); ok {
		text, rest, ok = strings.Cut(after, raw)
		if !ok {
			return "", "", fmt.Errorf("a string has no end")
		}
		return text, rest, nil
	}
	quoted, err := strconv.QuotedPrefix(value)
	if err != nil || quoted[0] != '"' {
		return "", "", fmt.Errorf("no string in %q", value)
	}
	text, err = strconv.Unquote(quoted)
	return text, value[len(quoted):], err
}

func unquote(value string) (string, error) {
	text, rest, err := firstString(value)
	if err == nil && rest != "" {
		err = fmt.Errorf("%q follows a string", rest)
	}
	return text, err
}

// thousandths parses a decimal number: entropies are compared as integers.
func thousandths(value string) (int, error) {
	whole, part, _ := strings.Cut(value, ".")
	if len(part) > 3 {
		return 0, fmt.Errorf("%q has more than three decimals", value)
	}
	return strconv.Atoi(whole + (part + "000")[:3])
}

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// kindTypes are the types of kinds that are not the kind with a capital letter.
var kindTypes = map[string]string{"profile": "Profiles"}

var (
	codeWord   = regexp.MustCompile("`(\\w+)`")
	recordType = regexp.MustCompile(`(?s)type Record union \{.*?\n\} representation.*?\n\}`)
	askedType  = regexp.MustCompile(`(?s)type Request struct \{.*?\n\}`)
)

// schema is mnem.ipldsch with the kinds of clause 1.3 and the parameters of clause 8.1 put in; the
// rest of the file stays as it is.
func schema(dir string) ([]byte, error) {
	spec, err := os.ReadFile(filepath.Join(dir, "SPEC.md"))
	if err != nil {
		return nil, err
	}
	old, err := os.ReadFile(filepath.Join(dir, "mnem.ipldsch"))
	if err != nil {
		return nil, err
	}
	record, err := recordUnion(string(spec))
	if err != nil {
		return nil, err
	}
	request, err := requestStruct(string(spec))
	if err != nil {
		return nil, err
	}
	if !recordType.Match(old) || !askedType.Match(old) {
		return nil, fmt.Errorf("mnem.ipldsch has no union Record or no struct Request to replace")
	}
	out := recordType.ReplaceAllLiteral(old, []byte(record))
	return askedType.ReplaceAllLiteral(out, []byte(request)), nil
}

func recordUnion(spec string) (string, error) {
	_, rest, found := strings.Cut(strings.Join(strings.Fields(spec), " "), "object in lower case: ")
	part, _, ended := strings.Cut(rest, "), `v`")
	if !found || !ended {
		return "", fmt.Errorf("SPEC.md does not list the kinds of records")
	}
	out := "type Record union {\n"
	for _, m := range codeWord.FindAllStringSubmatch(part, -1) {
		kind := m[1]
		name := kindTypes[kind]
		if name == "" {
			name = strings.ToUpper(kind[:1]) + kind[1:]
		}
		out += fmt.Sprintf("  | %s %q\n", name, kind)
	}
	return out + "} representation inline {\n  discriminantKey \"kind\"\n}", nil
}

// requestStruct has a field for each parameter in the table of clause 8.1, whose second column is its
// type, with "!" where every receipt has it.
func requestStruct(spec string) (string, error) {
	_, rest, found := strings.Cut(spec, "| parameter | type | default | bound | in | meaning |\n")
	table, _, ended := strings.Cut(rest, "\n\n")
	if !found || !ended {
		return "", fmt.Errorf("SPEC.md has no table of parameters")
	}
	out := "type Request struct {\n"
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) < 3 {
			return "", fmt.Errorf("a row of the parameters has %d cells: %s", len(cells), line)
		}
		typ, always := strings.CutSuffix(strings.TrimSpace(cells[2]), "!")
		if !always {
			typ = "optional " + typ
		}
		for _, m := range codeWord.FindAllStringSubmatch(cells[1], -1) {
			out += "  " + m[1] + " " + typ + "\n"
		}
	}
	return out + "}", nil
}

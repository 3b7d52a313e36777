package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// requestTypes are the types of the schema for the parameters of clause 8.1, as a receipt has them
// (clause 13.1); always are those that every receipt has. Which parameters there are says the clause.
var requestTypes = map[string]string{
	"text": "&Raw", "vectors": "{String:Bytes}", "sparse": "{String:Sparse}", "fusion": "String",
	"weights": "{String:Int}", "types": "[String]", "where": "[Predicate]", "createdFrom": "Time",
	"createdTo": "Time", "updatedFrom": "Time", "updatedTo": "Time", "now": "Time",
	"validAt": "Time", "marks": "[State]", "limit": "Int", "budget": "Int", "expand": "Int",
	"expansion": "String", "maxExpand": "Int", "decay": "Int", "damping": "Int",
	"expandTypes": "[String]", "direction": "String", "adjacency": "Int", "show": "[String]",
	"summaryCap": "Int", "exclude": "[ID]", "unseenFrom": "Int", "dedup": "Bool", "mmr": "Int",
	"spelling": "String", "pairs": "String", "oversample": "Int", "edgeWeights": "{String:Int}",
	"profile": "String", "order": "String", "pack": "String", "passageTokens": "Int",
	"tokenizer": "String", "community": "Bool", "summarize": "Int", "rewrites": "[&Raw]",
	"rewrite": "String", "rerank": "String", "rerankTop": "Int", "feedback": "Int",
	"intent": "String", "reranked": "[Reranked]",
}

var always = []string{"text", "limit", "budget", "expand", "direction", "adjacency", "summaryCap"}

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

// codeWords are the words in code between two texts of the specification.
func codeWords(spec, from, to string, line func(string) string) ([]string, error) {
	_, rest, found := strings.Cut(spec, from)
	part, _, ended := strings.Cut(rest, to)
	if !found || !ended {
		return nil, fmt.Errorf("SPEC.md has nothing between %q and %q", from, to)
	}
	var out []string
	for text := range strings.Lines(part) {
		for _, m := range codeWord.FindAllStringSubmatch(line(text), -1) {
			out = append(out, m[1])
		}
	}
	return out, nil
}

func recordUnion(spec string) (string, error) {
	kinds, err := codeWords(spec, "object in lower case: ", "), `v`", func(s string) string { return s })
	if err != nil {
		return "", err
	}
	out := "type Record union {\n"
	for _, kind := range kinds {
		name := kindTypes[kind]
		if name == "" {
			name = strings.ToUpper(kind[:1]) + kind[1:]
		}
		out += fmt.Sprintf("  | %s %q\n", name, kind)
	}
	return out + "} representation inline {\n  discriminantKey \"kind\"\n}", nil
}

func requestStruct(spec string) (string, error) {
	names, err := codeWords(spec, "| parameter | default | bound | meaning |", "\n\n",
		func(s string) string { return strings.SplitN(s+"||", "|", 3)[1] })
	if err != nil {
		return "", err
	}
	if len(names) != len(requestTypes) {
		return "", fmt.Errorf("clause 8.1 has %d parameters, the generator types of %d", len(names),
			len(requestTypes))
	}
	out := "type Request struct {\n"
	for _, name := range names {
		typ, known := requestTypes[name]
		if !known {
			return "", fmt.Errorf("the generator has no type of the parameter %s", name)
		}
		if !has(always, name) {
			name += " optional"
		}
		out += "  " + name + " " + typ + "\n"
	}
	return out + "}", nil
}

package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
)

// obj is a JSON object of a vector; encoding/json writes its members sorted.
type obj = map[string]any

// vector is one case: the members of its line, in the order they are written.
type vector struct {
	Name   string `json:"name"`
	Clause string `json:"clause"`
	Title  string `json:"title"`
	Fails  string `json:"fails,omitempty"`
	Input  obj    `json:"input"`
	Expect obj    `json:"expect"`
}

// suite collects the lines of the vectors: layer, then name.
type suite struct {
	layers map[string]map[string][]byte
	err    error
}

func (s *suite) fail(format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf(format, args...)
	}
}

func (s *suite) add(clause, layer, name, title string, input, expect obj) {
	if s.layers[layer] == nil {
		s.layers[layer] = map[string][]byte{}
	}
	if _, dup := s.layers[layer][name]; dup {
		s.fail("two cases of the layer %s are called %s", layer, name)
	}
	v := vector{Name: name, Clause: clause, Title: title, Input: input, Expect: expect}
	if rule, refused := expect["error"].(string); refused {
		v.Fails = errorClass(layer, clause, rule, input)
		if v.Fails == "" {
			s.fail("no class of error for %s/%s", layer, name)
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		s.fail("encoding %s/%s: %w", layer, name, err)
	}
	s.layers[layer][name] = b.Bytes()
}

// refuse adds a case that must be refused because it breaks a rule.
func (s *suite) refuse(clause, layer, name, title, rule string, input obj) {
	s.add(clause, layer, name, title, input, obj{"error": rule})
}

// layerClasses are the classes of error by layer; errorClass has the exceptions.
var layerClasses = map[string]string{
	"codec": "encoding", "cid": "cid", "json": "json", "tree": "tree",
	"node": "record", "edge": "record", "mark": "record", "embedding": "record", "graph": "record",
	"commit": "record", "operation": "record", "stage": "record", "tag": "record",
	"session": "record", "receipt": "record", "export": "record", "conflict": "record",
	"merge-record": "record", "redaction": "record", "profile": "record", "written": "record",
	"ids": "field", "signature": "field", "apply": "change", "changes": "change", "car": "file",
}

// errorClass is the class of the error with which a case fails that breaks a rule: what notices it.
func errorClass(layer, clause, rule string, input obj) string {
	switch {
	case layer == "chains":
		return rule
	case clause == "1.2", layer == "cid" && rule == "size":
		return "encoding"
	case rule == "circle":
		return "circle"
	case layer == "tree" && (rule == "key-size" || rule == "value-size"):
		return "entry"
	case layer == "tree" && rule == "missing", layer == "car" && rule == "since":
		return "missing"
	case layer == "signature" && rule == "syntax":
		return "json"
	case layer == "embedding" && input["numbers"] != nil:
		return "field"
	}
	return layerClasses[layer]
}

// generate makes the files of the vectors by their names: one case a line, in the order of names.
func generate() (map[string][]byte, int, error) {
	s := &suite{layers: map[string]map[string][]byte{}}
	for _, f := range allCases {
		f(s)
	}
	files, count := map[string][]byte{}, 0
	for layer, cases := range s.layers {
		var names []string
		for name := range cases {
			names = append(names, name)
		}
		sort.Strings(names)
		var lines []byte
		for _, name := range names {
			lines = append(lines, cases[name]...)
		}
		files[layer+".jsonl"] = lines
		count += len(names)
	}
	return files, count, s.err
}

func main() {
	spec := flag.String("spec", "../spec", "folder of the specification")
	check := flag.Bool("check", false, "compare only, fail where the files differ")
	flag.Parse()
	if err := run(*spec, *check); err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

func run(spec string, check bool) error {
	files, count, err := generate()
	if err != nil {
		return err
	}
	types, err := schema(spec)
	if err != nil {
		return err
	}
	dir := filepath.Join(spec, "vectors")
	have, err := existing(dir)
	if err != nil {
		return err
	}
	schemaPath := filepath.Join(spec, "mnem.ipldsch")
	if check {
		if now, err := os.ReadFile(schemaPath); err != nil || !bytes.Equal(now, types) {
			return fmt.Errorf("mnem.ipldsch is not what the clauses say: write it by %q", "go -C conformance run .")
		}
		if err := compare(files, have); err != nil {
			return err
		}
		fmt.Printf("%d vectors in %d files are current\n", count, len(files))
		return nil
	}
	if err := os.WriteFile(schemaPath, types, 0o644); err != nil {
		return err
	}
	for name := range have {
		if files[name] == nil {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				return err
			}
		}
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return err
		}
	}
	fmt.Printf("%d vectors in %d files\n", count, len(files))
	return nil
}

// existing reads the files of vectors in dir, by name.
func existing(dir string) (map[string][]byte, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		return nil, err
	}
	found := map[string][]byte{}
	for _, path := range paths {
		if found[filepath.Base(path)], err = os.ReadFile(path); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// compare returns an error that names the lines in which the files differ, at most 20.
func compare(want, have map[string][]byte) error {
	var bad []string
	for name, data := range want {
		if bytes.Equal(data, have[name]) {
			continue
		}
		now, then := strings.Split(string(data), "\n"), strings.Split(string(have[name]), "\n")
		for _, line := range now {
			if !slices.Contains(then, line) {
				bad = append(bad, name+" lacks "+head(line))
			}
		}
		for _, line := range then {
			if !slices.Contains(now, line) {
				bad = append(bad, name+" has, made by nothing, "+head(line))
			}
		}
		if len(bad) == 0 {
			bad = append(bad, name+" has its lines in another order, or twice")
		}
	}
	for name := range have {
		if want[name] == nil {
			bad = append(bad, name+" is made by nothing")
		}
	}
	if len(bad) == 0 {
		return nil
	}
	sort.Strings(bad)
	return fmt.Errorf("vectors are not current, write them by %q (%d lines):\n  %s",
		"go -C conformance run .", len(bad), strings.Join(bad[:min(len(bad), 20)], "\n  "))
}

// head is the beginning of a line: the name of its case and its clause.
func head(line string) string {
	return line[:min(len(line), 80)]
}

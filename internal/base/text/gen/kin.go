package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/internal/base/text"
)

// kinTable makes the table of kindred terms from the list of words: clause 9.12 of docs/internals/ranking.md.
func kinTable(list string) (string, error) {
	a := text.English
	kin := map[string]map[string]bool{}
	relate := func(x, y string) {
		if x == y {
			return
		}
		if kin[x] == nil {
			kin[x] = map[string]bool{}
		}
		kin[x][y] = true
	}
	for n, line := range strings.Split(strings.TrimSuffix(list, "\n"), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		class, members, isClass := strings.Cut(line, ":")
		if !isClass {
			members = line
		}
		var terms []string
		for _, word := range strings.Fields(members) {
			t := a.Terms(word)
			if len(t) != 1 {
				return "", fmt.Errorf("line %d: %q has %d terms, want 1", n+1, word, len(t))
			}
			terms = append(terms, t[0])
		}
		head := a.Terms(class)
		switch {
		case isClass && (len(head) != 1 || len(terms) == 0):
			return "", fmt.Errorf("line %d: want a class of one term and members", n+1)
		case !isClass && len(terms) < 2:
			return "", fmt.Errorf("line %d: want two words or more", n+1)
		}
		for _, x := range terms {
			if isClass {
				relate(head[0], x)
				relate(x, head[0])
				continue
			}
			for _, y := range terms {
				relate(x, y)
			}
		}
	}
	var b strings.Builder
	for _, term := range slices.Sorted(maps.Keys(kin)) {
		fmt.Fprintf(&b, "%s %s\n", term, strings.Join(slices.Sorted(maps.Keys(kin[term])), " "))
	}
	return b.String(), nil
}

// writeKin writes the table next to the list.
func writeKin(dir string) error {
	list, err := os.ReadFile(filepath.Join(dir, "kin.txt"))
	if err != nil {
		return err
	}
	table, err := kinTable(string(list))
	if err != nil {
		return fmt.Errorf("kin.txt: %w", err)
	}
	return os.WriteFile(filepath.Join(dir, "kin.tab"), []byte(table), 0o644)
}

// Command gen writes the tables of package text: from the Unicode data of the Go release and of golang.org/x/text
// it derives, for every code point, a class and a fold, and writes them twice, as packed Go source (tables.go) and
// as plain text (testdata/tables.txt). From the list of kindred words (kin.txt) it makes the table of kindred terms
// (kin.tab).
//
// The tables of a released analyser version never change. Running gen with another Unicode version is the first
// step towards a new analyser version, not a way to refresh an old one.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	dir := flag.String("dir", ".", "folder of package text")
	flag.Parse()
	if err := run(*dir); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// run derives the tables and writes both files below dir.
func run(dir string) error {
	t, err := derive()
	if err != nil {
		return err
	}
	src, err := goSource(t)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "tables.go"), src, 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "testdata", "tables.txt"), plainText(t), 0o644); err != nil {
		return err
	}
	return writeKin(dir)
}

// Command site makes a web site of the docs, and holds the guides to the program.
//
//	go run .                          check links, and write nothing
//	go run . -o DIR                   write the site to DIR
//	go run . -mnem FILE [PAGE...]     run the commands that README and guides show, and compare what they print
//	go run . -mnem FILE -rewrite      write what they print
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

const root = "../.."

func main() {
	out := flag.String("o", "", "write the site to `DIR`")
	mnem := flag.String("mnem", "", "run commands with the program `FILE`")
	rewrite := flag.Bool("rewrite", false, "write what commands print into the pages")
	flag.Parse()
	err := errors.New("-rewrite needs -mnem")
	switch {
	case *mnem != "":
		err = commands(*mnem, *rewrite, flag.Args())
	case !*rewrite:
		err = site(*out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// commands runs those of pages, by default of README and all guides.
func commands(mnem string, rewrite bool, pages []string) error {
	mnem, err := filepath.Abs(mnem)
	if err != nil {
		return err
	}
	with := surroundings{"with git", true, false}
	readme := filepath.Join(root, "README.md")
	if len(pages) == 0 {
		if pages, err = filepath.Glob(filepath.Join(root, "docs", "*.md")); err != nil {
			return err
		}
		pages = append(pages, readme)
	}
	var problems []error
	for _, page := range pages {
		places := []surroundings{with}
		if page == readme {
			places = append(places, surroundings{"without git", false, false}, surroundings{"within a git work tree", true, true})
		}
		for _, s := range places {
			n, err := screens(page, mnem, s, rewrite && s == with)
			if err != nil {
				problems = append(problems, fmt.Errorf("%s: %w", page, err))
			}
			fmt.Printf("%s, %s: %d commands\n", page, s.name, n)
		}
	}
	return errors.Join(problems...)
}

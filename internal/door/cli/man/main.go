// Command man writes the pages of the manual into a directory.
//
//	go run ./internal/door/cli/man DIR
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/mnem-project/mnem/internal/door/cli"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: man DIR")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "man:", err)
		os.Exit(1)
	}
}

func write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, page := range cli.Manual() {
		if err := os.WriteFile(filepath.Join(dir, page.File), []byte(page.Text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

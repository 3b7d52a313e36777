// Command build makes the files of the web view: it bundles ../src and ../third_party into ../dist. What
// it writes depends on these and on the version of esbuild in go.mod alone.
//
//	go run .            write ../dist
//	go run . -o DIR     write DIR
//	go run . -check     write nothing, and fail where ../dist differs
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

func main() {
	out := flag.String("o", filepath.Join("..", "dist"), "write to `DIR`")
	check := flag.Bool("check", false, "compare, and write nothing")
	flag.Parse()
	if err := run(*out, *check); err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		os.Exit(1)
	}
}

func run(out string, check bool) error {
	files, err := bundle("..")
	if err != nil {
		return err
	}
	if check {
		return compare(out, files)
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(out, name), data, 0o644); err != nil {
			return err
		}
		fmt.Printf("%s: %d bytes\n", name, len(data))
	}
	return nil
}

// compare returns an error if a directory does not have these files, or has others.
func compare(dir string, files map[string][]byte) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if files[e.Name()] == nil {
			err = errors.Join(err, fmt.Errorf("%s is made of nothing", e.Name()))
		}
	}
	for name, want := range files {
		got, readErr := os.ReadFile(filepath.Join(dir, name))
		if readErr != nil || !bytes.Equal(got, want) {
			err = errors.Join(err, fmt.Errorf("%s is not what the sources make: run 'go run .' here", name))
		}
	}
	return err
}

// libraries returns the files of the libraries that the sources import.
func libraries(root string) map[string]string {
	files := map[string]string{
		"preact":       filepath.Join(root, "third_party", "preact", "src", "index.js"),
		"preact/hooks": filepath.Join(root, "third_party", "preact", "hooks", "src", "index.js"),
	}
	for _, name := range []string{"d3-force", "d3-dispatch", "d3-quadtree", "d3-timer"} {
		files[name] = filepath.Join(root, "third_party", "d3", name+".mjs")
	}
	return files
}

// bundle returns the files of the page by name.
func bundle(root string) (map[string][]byte, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	result := api.Build(api.BuildOptions{
		EntryPoints:   []string{"src/app.tsx", "src/worker.ts", "src/app.css"},
		AbsWorkingDir: root,
		Outdir:        filepath.Join(root, "dist"),
		Alias:         libraries(root),
		Bundle:        true, Format: api.FormatIIFE, Target: api.ES2022, Charset: api.CharsetUTF8,
		JSX: api.JSXTransform, JSXFactory: "h", JSXFragment: "Fragment",
		TsconfigRaw:      `{"compilerOptions":{"strict":true}}`,
		MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true,
		LegalComments: api.LegalCommentsNone, LogLevel: api.LogLevelWarning,
	})
	if len(result.Errors) > 0 || len(result.Warnings) > 0 {
		return nil, errors.New("the bundle has errors or warnings")
	}
	files := make(map[string][]byte)
	for _, f := range result.OutputFiles {
		files[filepath.Base(f.Path)] = f.Contents
	}
	page, err := os.ReadFile(filepath.Join(root, "src", "index.html"))
	if err != nil {
		return nil, err
	}
	files["index.html"] = page
	var licences strings.Builder
	for _, l := range []struct{ what, dir string }{
		{"Preact (https://preactjs.com)", "preact"},
		{"d3-force, d3-quadtree, d3-dispatch and d3-timer (https://d3js.org)", "d3"},
	} {
		text, err := os.ReadFile(filepath.Join(root, "third_party", l.dir, "LICENSE"))
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&licences, "This page contains %s:\n\n%s\n\n", l.what, strings.TrimSpace(string(text)))
	}
	files["licenses.txt"] = []byte(strings.TrimSpace(licences.String()) + "\n")
	return files, nil
}

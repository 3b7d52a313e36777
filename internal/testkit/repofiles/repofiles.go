// Package repofiles reads all files of repositories, whatever their form, for tests that look for texts in them.
package repofiles

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/mnem-project/mnem/internal/block/store/pebble"
	"github.com/mnem-project/mnem/internal/layout"
	"github.com/mnem-project/mnem/ipld"
)

// Unknown returns the files below a .mnem that the table of package layout does not name.
func Unknown(dir string) (names []string, err error) {
	err = filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // removed in the background
		}
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, file)
		if _, known := layout.Of(filepath.ToSlash(rel)); err == nil && !known {
			names = append(names, rel)
		}
		return err
	})
	return names, err
}

// Texts calls fn with the bytes of all files below a .mnem, with what they decompress to, with the strings of JSON and
// what they are in base64, with the strings of the entries of stores, and with git objects. where names a file and
// what is in it. No process may have a repository there open.
func Texts(dir string, fn func(where, text string)) error {
	return filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "db" && filepath.Base(filepath.Dir(file)) != "objects": // git names directories by two digits
			if err := entries(filepath.Dir(file), fn); err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
			return nil
		case d.IsDir() && d.Name() == "objects":
			return gitObjects(filepath.Dir(file), fn)
		case !d.Type().IsRegular():
			return nil
		}
		fn(file, filepath.Base(file))
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		bytesOf(file, data, fn)
		return nil
	})
}

// bytesOf calls fn with bytes and all that can be made of them.
func bytesOf(where string, data []byte, fn func(where, text string)) {
	fn(where, string(data))
	for form, open := range map[string]func(io.Reader) (io.ReadCloser, error){
		"zlib": zlib.NewReader,
		"gzip": func(r io.Reader) (io.ReadCloser, error) { return gzip.NewReader(r) },
	} {
		if r, err := open(bytes.NewReader(data)); err == nil {
			if inflated, err := io.ReadAll(r); err == nil {
				fn(where+", "+form, string(inflated))
			}
		}
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	for {
		var v any
		if dec.Decode(&v) != nil {
			return
		}
		jsonTexts(v, func(s string) {
			fn(where+", JSON", s)
			if raw, err := base64.StdEncoding.DecodeString(s); err == nil {
				fn(where+", base64", string(raw))
			}
		})
	}
}

func jsonTexts(v any, fn func(string)) {
	switch v := v.(type) {
	case string:
		fn(v)
	case []any:
		for _, item := range v {
			jsonTexts(item, fn)
		}
	case map[string]any:
		for key, item := range v {
			fn(key)
			jsonTexts(item, fn)
		}
	}
}

// entries calls fn with what a store has.
func entries(dir string, fn func(where, text string)) (err error) {
	st, err := pebble.Open(dir, pebble.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	return st.Keys(context.Background(), func(e pebble.RawEntry) error {
		where := fmt.Sprintf("%s: %s %s %v", dir, e.CID, ipld.RecordKind(e.Value), e.Space)
		fn(where, string(e.Key))
		fn(where, string(e.Value))
		if v, err := ipld.DecodeValue(e.Value); err == nil {
			recordTexts(v, func(s string) { fn(where, s) })
		}
		return nil
	})
}

// recordTexts calls fn with the strings of a record, and with the keys of a chunk of a tree as they are without their
// prefix taken away.
func recordTexts(v ipld.Value, fn func(string)) {
	switch v.Kind() {
	case ipld.String, ipld.Bytes:
		fn(v.Text())
	case ipld.List:
		for _, item := range v.List() {
			recordTexts(item, fn)
		}
	case ipld.Map:
		prefix, _ := v.Get("prefix")
		keys, _ := v.Get("keys")
		for _, key := range keys.List() {
			fn(prefix.Text() + key.Text())
		}
		for _, e := range v.Entries() {
			fn(e.Key)
			recordTexts(e.Value, fn)
		}
	}
}

// gitObjects calls fn with every object of a git repository, reachable or not.
func gitObjects(dir string, fn func(where, text string)) error {
	git := func(args ...string) (string, error) {
		out, err := exec.Command("git", append([]string{"--git-dir=" + dir}, args...)...).Output()
		return string(out), err
	}
	list, err := git("cat-file", "--batch-all-objects", "--batch-check=%(objecttype) %(objectname)")
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	for row := range strings.Lines(list) {
		kind, id, _ := strings.Cut(strings.TrimSpace(row), " ")
		text, err := git("cat-file", kind, id)
		if err != nil {
			return fmt.Errorf("%s: %s: %w", dir, id, err)
		}
		fn(fmt.Sprintf("%s: git %s %s", dir, kind, id), text)
	}
	return nil
}

package setup

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/mnem-project/mnem/internal/base/filestate"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/gitdir"
)

const (
	ignoreFile = ".gitignore"
	ignoreLine = core.DirName + "/"
	// maxIgnore bounds a file of patterns in bytes.
	maxIgnore = 1 << 20
)

// gitWorkTree returns the top of the git work tree that a directory is in, "" for none. The
// directory need not exist.
func gitWorkTree(dir string) string {
	for {
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		above := filepath.Dir(dir)
		if above == dir {
			return ""
		}
		dir = above
	}
}

// ignored reports whether a file of patterns between a directory and the top of its work tree names
// the repository.
func ignored(dir, top string) (bool, error) {
	var files []string
	if tree, err := gitdir.Find(top); err == nil { // .git is a file in a linked work tree
		files = append(files, filepath.Join(tree.Common, "info", "exclude"))
	}
	for at := dir; ; at = filepath.Dir(at) {
		files = append(files, filepath.Join(at, ignoreFile))
		if at == top {
			break
		}
	}
	for _, file := range files {
		data, err := filestate.Read(file, maxIgnore)
		if err != nil {
			return false, err
		}
		if ignoresRepo(data) {
			return true, nil
		}
	}
	return false, nil
}

// ignoresRepo reports whether a line is the repository's name. Patterns that also fit are not
// understood: then there is one line too many.
func ignoresRepo(data []byte) bool {
	for line := range bytes.Lines(data) {
		if strings.Trim(strings.TrimSpace(string(line)), "/") == core.DirName {
			return true
		}
	}
	return false
}

// ignoreInGit adds the repository of a directory to the patterns that git ignores.
func ignoreInGit(ctx context.Context, dir string) error {
	path := filepath.Join(dir, ignoreFile)
	opt := filestate.EditOptions{Limit: maxIgnore, KeepMode: true, NewMode: 0o644}
	err := filestate.Edit(ctx, path, opt, func(data []byte) ([]byte, error) {
		if ignoresRepo(data) {
			return data, nil
		}
		out := bytes.Clone(data)
		if n := len(out); n > 0 && out[n-1] != '\n' {
			out = append(out, '\n')
		}
		return append(out, ignoreLine+"\n"...), nil
	})
	if err != nil {
		return fmt.Errorf("init: %s is made, but not ignored by git: %w", core.DirName, err)
	}
	return nil
}

// offerIgnore ignores a new repository if that is asked for, and else says how, if git would
// take it along.
func offerIgnore(ctx context.Context, c *line.Line, dir, top string, ignore bool) error {
	if top == "" {
		return nil
	}
	if ignore {
		return ignoreInGit(ctx, dir)
	}
	there, err := ignored(dir, top)
	if err == nil && !there {
		c.Remark("hint: git would take %s along; to ignore it: echo %s >>%s", ignoreLine, ignoreLine,
			line.OneLine(filepath.Join(dir, ignoreFile)))
	}
	return err
}

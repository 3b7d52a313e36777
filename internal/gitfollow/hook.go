package gitfollow

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/mnem-project/mnem/internal/base/filestate"
	"github.com/mnem-project/mnem/internal/base/plain"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/gitdir"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
)

const (
	hookFile = "post-merge"
	// hookMark is the second line of mnem's hook.
	hookMark = "# 'mnem git hook' wrote this; 'mnem git hook --remove' takes it away.\n"
	// hookBefore is the suffix of a previously installed hook, which mnem's hook runs first.
	hookBefore = ".before-mnem"
	hookFresh  = ".new-mnem" // of ours until it is whole
	maxHook    = 1 << 20
)

// Hook is the git hook that runs 'mnem git sync'.
type Hook struct {
	Path      string `json:"path"`
	Installed bool   `json:"installed"`
	Chained   bool   `json:"chained"` // whether it runs a hook that was there before
	Changed   bool   `json:"changed"`
}

// HookOf returns the hook of a work tree, and whether it is installed.
func HookOf(tree *gitdir.Tree) (h *Hook, err error) {
	h = &Hook{Path: filepath.Join(tree.Common, "hooks", hookFile)}
	data, err := filestate.Read(h.Path, maxHook)
	h.Installed = bytes.Contains(data, []byte(hookMark))
	return h, err
}

// hooksHere fails if git's hooks are stored elsewhere: they then belong to other repositories as well, or to a
// program that manages them.
func hooksHere(ctx context.Context, tree *gitdir.Tree) error {
	dir, _, err := tree.Git(ctx, "config", "--get", "--path", "core.hooksPath")
	if dir = strings.TrimSpace(dir); err != nil || dir == "" {
		return err
	}
	return verb.Hintf(fmt.Errorf("%w: git's hooks are in %s (core.hooksPath)", state.ErrInvalid, text.EscapeLine(dir)),
		"add the line 'mnem git sync --quiet || :' to the hook post-merge there")
}

// Install writes the hook, which runs program after the existing hook.
func (h *Hook) Install(ctx context.Context, tree *gitdir.Tree, program string) error {
	if err := hooksHere(ctx, tree); err != nil {
		return err
	}
	path, before, ours := h.Path, h.Path+hookBefore, h.Installed
	h.Installed = true
	kept, err := os.Lstat(before)
	h.Chained = err == nil
	if ours {
		return nil
	}
	was, err := os.Lstat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("look for a hook: %w", err)
	}
	// If both are the same file, an interrupted run kept it.
	if kept != nil && (was == nil || !os.SameFile(kept, was)) {
		return verb.Hintf(fmt.Errorf("%s: %w", before, fs.ErrExist), "it is of an earlier hook: move it away first")
	}
	h.Chained = was != nil
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return fmt.Errorf("write hook: %w", err)
	}
	fresh := path + hookFresh
	err = filestate.Replace(fresh, 0o755, func(w io.Writer) error {
		_, err := io.WriteString(w, hookText(program))
		return err
	})
	if err != nil {
		return fmt.Errorf("write hook: %w", err)
	}
	if was != nil && kept == nil {
		// Git has a hook at every moment: the existing one stays until mnem's replaces it.
		if err = os.Link(path, before); err != nil {
			err = os.Rename(path, before) // if the file system has no hard links
		}
	}
	if err == nil {
		if err = os.Rename(fresh, path); err == nil {
			h.Changed = true
			return nil
		}
		if was != nil {
			err = errors.Join(err, os.Rename(before, path))
		}
	}
	return errors.Join(fmt.Errorf("write hook: %w", err), os.Remove(fresh))
}

// hookText returns mnem's hook. The previous hook is run only if it is executable, as git does.
func hookText(program string) string {
	return "#!/bin/sh\n" + hookMark +
		"if test -x \"$0" + hookBefore + "\"; then \"$0" + hookBefore + "\" \"$@\" || exit $?; fi\n" +
		plain.Shell(program) + " git sync --quiet || :\n"
}

// Remove restores the previous hook.
func (h *Hook) Remove() error {
	if !h.Installed {
		return nil
	}
	h.Installed = false
	before := h.Path + hookBefore
	if _, err := os.Lstat(before); err == nil {
		err = os.Rename(before, h.Path)
		h.Changed = err == nil
		return err
	}
	if err := os.Remove(h.Path); err != nil {
		return fmt.Errorf("remove hook: %w", err)
	}
	h.Changed = true
	return nil
}

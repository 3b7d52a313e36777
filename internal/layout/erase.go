package layout

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/internal/base/filestate"
	"github.com/mnem-project/mnem/internal/base/regular"
)

const (
	// maxRead is the longest file that is edited or searched in memory, in bytes: the bound of ingest.json.
	maxRead = 256 << 20
	// window and overlap are how much of a longer file, or of a pack, is searched at a time: no text that is
	// searched for is longer than the overlap.
	window  = 4 << 20
	overlap = 64 << 10
	// maxDepth bounds the nesting of JSON that is searched.
	maxDepth = 64
)

// EraseOptions describe the text to erase.
type EraseOptions struct {
	// Holds reports whether a text contains the erased text. If it is nil, only files that every purge removes are
	// removed.
	Holds func(text string) bool
	// DryRun says what would be done and does nothing.
	DryRun bool
}

// Done is the action taken on a file.
type Done string

const (
	Gone    Done = "removed"
	Changed Done = "changed" // it lost what holds the text
	Left    Done = "left"    // it holds the text
)

// File is a file or directory that had to do with an erasure.
type File struct {
	Path string `json:"path" shape:"null"` // from .mnem, with slashes
	What string `json:"what"`
	Done Done   `json:"done" shape:"removed|changed|left"`
	// Held is whether the text was found in it. Of a mirror only its reader knows.
	Held bool `json:"-"`
}

// Erase erases from the files below dir, a .mnem, that are no part of the store, and returns what became of them, by
// path. It can be called again after an error. It waits for transfers that use a mirror, and returns an error
// wrapping filestate.ErrLocked if one goes on for long.
func Erase(ctx context.Context, dir string, opt EraseOptions) ([]File, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	e := &eraser{ctx: ctx, dir: dir, EraseOptions: opt}
	if err := filepath.WalkDir(dir, e.visit); err != nil {
		return nil, fmt.Errorf("erase in files: %w", err)
	}
	for _, at := range slices.Sorted(slices.Values(e.mirrors)) {
		if err := e.mirror(at); err != nil {
			return nil, fmt.Errorf("erase in files: %w", err)
		}
	}
	slices.SortFunc(e.out, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return e.out, nil
}

type eraser struct {
	EraseOptions
	ctx     context.Context
	dir     string
	mirrors []string // directories of remotes that have one
	out     []File
}

func (e *eraser) visit(file string, d fs.DirEntry, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil // removed since the listing
	}
	if err == nil {
		err = e.ctx.Err()
	}
	if err != nil {
		return err
	}
	rel, err := filepath.Rel(e.dir, file)
	if err != nil {
		return err
	}
	name := filepath.ToSlash(rel)
	if d.IsDir() {
		if name == "db" {
			return fs.SkipDir
		}
		if k, _ := Of(name + "/x"); k.Erasure == Mirrored {
			return e.seen(name)
		}
		return nil
	}
	k, _ := Of(name)
	if k.Erasure == Mirrored {
		return e.seen(name)
	}
	if !d.Type().IsRegular() {
		return nil
	}
	if err = e.one(file, name, k); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// seen notes the mirror that a file or directory belongs to, unless the directory is empty.
func (e *eraser) seen(name string) error {
	parts := strings.Split(name, "/")
	at := path.Join(parts[:2]...)
	full := filepath.Join(e.dir, filepath.FromSlash(name))
	info, err := os.Stat(full)
	if err != nil || slices.Contains(e.mirrors, at) {
		return skipIf(info)
	}
	if !info.IsDir() || hasFiles(full) {
		e.mirrors = append(e.mirrors, at)
	}
	return skipIf(info)
}

func skipIf(info fs.FileInfo) error {
	if info != nil && info.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// hasFiles reports whether there is a file below a directory.
func hasFiles(dir string) (has bool) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error { // unreadable files are removed
		if has = err != nil || !d.IsDir(); has {
			return fs.SkipAll
		}
		return nil
	})
	return has
}

func (e *eraser) one(file, name string, k FileKind) error {
	found := File{Path: name, What: k.What}
	switch k.Erasure {
	case InStore, NoText, Mirrored:
		return nil
	case Edited:
		return e.edit(file, found)
	case Removed:
		held, err := e.stream(file)
		if err != nil {
			return err
		}
		found.Held, found.Done = held, Gone
	case Searched, Kept:
		held, err := e.search(file)
		if err != nil || !held {
			return err
		}
		found.Held, found.Done = true, Gone
		if k.Erasure == Kept {
			found.Done = Left
		}
	}
	e.out = append(e.out, found)
	if found.Done == Gone && !e.DryRun {
		return filestate.Remove(file)
	}
	return nil
}

// mirror removes the local copy of a memory that is kept elsewhere.
func (e *eraser) mirror(at string) (err error) {
	e.out = append(e.out, File{Path: at, What: "the copy of what the remote has", Done: Gone})
	if e.DryRun {
		return nil
	}
	dir := filepath.Join(e.dir, filepath.FromSlash(at))
	unlock, err := filestate.Lock(e.ctx, filepath.Join(dir, "mnem"))
	if err != nil {
		return fmt.Errorf("%s is in use: %w", at, err)
	}
	defer func() { err = errors.Join(err, unlock()) }()
	// First what says that the mirror is whole.
	for _, name := range []string{"packs", "packed-refs", "FETCH_HEAD", "refs/mnem", "mirror"} {
		if err := filestate.RemoveAll(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			return err
		}
	}
	// git needs the directory of objects itself.
	list, err := os.ReadDir(filepath.Join(dir, "objects"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, d := range list {
		if err := filestate.RemoveAll(filepath.Join(dir, "objects", d.Name())); err != nil {
			return err
		}
	}
	return nil
}

// edit takes out of a file the entries that hold the text.
func (e *eraser) edit(file string, found File) error {
	if e.Holds == nil {
		return nil
	}
	without := e.lines
	if path.Base(found.Path) == "ingest.json" {
		without = e.ingested
	}
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	opt := filestate.EditOptions{Limit: maxRead}
	stop := errors.New("nothing to change")
	err = filestate.Edit(e.ctx, file, opt, func(old []byte) ([]byte, error) {
		next, changed := without(old)
		if found.Held = changed; !changed || e.DryRun {
			return nil, stop
		}
		return next, nil
	})
	if err != nil && !errors.Is(err, stop) {
		return err
	}
	if !found.Held {
		return nil
	}
	found.Done = Changed
	e.out = append(e.out, found)
	if e.DryRun {
		return nil
	}
	// The time of ingest.json says when files were looked at last. The file may be gone by now.
	if err = os.Chtimes(file, info.ModTime(), info.ModTime()); errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return err
}

// lines returns a file without the lines that hold the text.
func (e *eraser) lines(old []byte) (next []byte, changed bool) {
	next = []byte{}
	for line := range bytes.Lines(old) {
		if e.held(line) {
			changed = true
			continue
		}
		next = append(next, line...)
	}
	return next, changed
}

// ingested returns what ingest notes of files without those whose path holds the text. What cannot be read goes: it is
// as good as none to its reader.
func (e *eraser) ingested(old []byte) (next []byte, changed bool) {
	var all struct {
		V     json.RawMessage
		Dirs  map[string]string `json:",omitempty"`
		Files []json.RawMessage
	}
	if old == nil || json.Unmarshal(old, &all) != nil {
		return nil, old != nil && e.held(old)
	}
	n := len(all.Files) + len(all.Dirs)
	all.Files = slices.DeleteFunc(all.Files, func(f json.RawMessage) bool {
		var at struct{ Project, Name string }
		return e.held(f) || json.Unmarshal(f, &at) == nil && e.Holds(at.Project+"/"+at.Name)
	})
	for project, dir := range all.Dirs {
		if e.Holds(project) || e.Holds(dir) {
			delete(all.Dirs, project)
		}
	}
	next, err := json.Marshal(all)
	if err != nil {
		return nil, true
	}
	return next, len(all.Files)+len(all.Dirs) < n
}

func (e *eraser) search(file string) (bool, error) {
	if e.Holds == nil {
		return false, nil
	}
	data, err := filestate.Read(file, maxRead)
	if errors.Is(err, filestate.ErrUnfit) {
		return e.stream(file)
	}
	return err == nil && e.held(data), err
}

// held reports whether bytes hold the text: as they are, or in a string of JSON, also one that is base64.
func (e *eraser) held(data []byte) bool {
	if e.Holds(string(data)) {
		return true
	}
	var v any
	dec := json.NewDecoder(bytes.NewReader(data))
	for dec.Decode(&v) == nil {
		if e.value(v, 0) {
			return true
		}
	}
	return false
}

func (e *eraser) value(v any, depth int) bool {
	if depth > maxDepth {
		return false
	}
	switch v := v.(type) {
	case string:
		if e.Holds(v) {
			return true
		}
		raw, err := base64.StdEncoding.DecodeString(v)
		return err == nil && len(raw) > 0 && e.Holds(string(raw))
	case []any:
		return slices.ContainsFunc(v, func(item any) bool { return e.value(item, depth+1) })
	case map[string]any:
		for key, item := range v {
			if e.Holds(key) || e.value(item, depth+1) {
				return true
			}
		}
	}
	return false
}

// stream reports whether the bytes of a file of any length contain the text unchanged.
func (e *eraser) stream(file string) (held bool, err error) {
	if e.Holds == nil {
		return false, nil
	}
	f, err := regular.Open(file)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	buf := make([]byte, 0, window+overlap)
	for {
		n, err := io.ReadFull(f, buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if e.Holds(string(buf)) {
			return true, nil
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		buf = append(buf[:0], buf[max(0, len(buf)-overlap):]...)
	}
}

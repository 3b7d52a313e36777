package vault

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/internal/base/regular"
	"github.com/mnem-project/mnem/internal/ingest"
)

const (
	ownDir       = ".mnem-export"
	manifestFile = ingest.ExportFile
	linesFile    = ownDir + "/documents.jsonl"
	// journalFile lists each file before it is written, so that a later export recognises files of an interrupted one.
	journalFile = ownDir + "/journal"
	newFile     = ownDir + "/new"
	format      = 1
	// maxManifest bounds the manifest and the journal: some hundred bytes for each of a million files.
	maxManifest = 256 << 20
	// maxNamed is how many files an error names.
	maxNamed = 5
)

// ErrForeign is returned if a directory has files that no export wrote, or that were changed since.
var ErrForeign = errors.New("not written by an export")

// Manifest lists the files of a directory that an export wrote.
type Manifest struct {
	Format int               `json:"format"`
	Commit string            `json:"commit"`
	Files  map[string]string `json:"files"` // the sha256 of each, by its name
	// Updated has the last change times of documents' nodes, which change lines lack.
	Updated map[string]string `json:"updated,omitempty"`
}

type target struct {
	root *os.Root
	old  map[string]map[string]bool // the sums that each file may have, by its folded name
	was  map[string]string          // the manifest, names as they are
	sums map[string]string          // of what is written

	taken func(name string) (bool, error) // whether a note that was changed was read since

	journal                     *os.File
	written, unchanged, removed int
}

// ReadManifest returns the manifest of a directory, nil if no export wrote it.
func ReadManifest(root *os.Root) (*Manifest, error) {
	data, err := readFile(root, manifestFile, maxManifest)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	m := new(Manifest)
	if err := json.Unmarshal(data, m); err != nil {
		return nil, fmt.Errorf("%s: %w", manifestFile, err)
	}
	if m.Format != format {
		return nil, fmt.Errorf("%s: format %d, and this version knows %d", manifestFile, m.Format, format)
	}
	for name := range m.Files {
		if !fs.ValidPath(name) || !filepath.IsLocal(filepath.FromSlash(name)) {
			return nil, fmt.Errorf("%s: %q is not a file name", manifestFile, name)
		}
	}
	return m, nil
}

func readFile(root *os.Root, name string, limit int64) ([]byte, error) {
	f, err := regular.OpenIn(root, filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%s has more than %d bytes", name, limit)
	}
	return data, err
}

// openTarget opens a directory that is empty or that an export wrote.
func openTarget(root *os.Root) (*target, error) {
	t := &target{root: root, old: make(map[string]map[string]bool), sums: make(map[string]string)}
	m, err := ReadManifest(root)
	if err != nil {
		return nil, err
	}
	journal, err := readFile(root, journalFile, maxManifest)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if m == nil && journal == nil {
		entries, err := fs.ReadDir(root.FS(), ".")
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if e.Name() != ownDir { // a run may have ended once it had made this
				return nil, fmt.Errorf("%w: %s has files already, as %s", ErrForeign, root.Name(), e.Name())
			}
		}
		return t, nil
	}
	if m != nil {
		t.was = m.Files
		for name, sum := range m.Files {
			t.know(name, sum)
		}
	}
	for line := range strings.SplitSeq(string(journal), "\n") {
		if sum, name, ok := strings.Cut(line, " "); ok {
			t.know(name, sum)
		}
	}
	return t, nil
}

func (t *target) know(name, sum string) {
	if t.old[fold(name)] == nil {
		t.old[fold(name)] = make(map[string]bool)
	}
	t.old[fold(name)][sum] = true
}

// begin checks that an export wrote every file it would replace, and removes the files of removed memories.
func (t *target) begin(ctx context.Context, names []string) error {
	keep := make(map[string]bool, len(names))
	for _, name := range names {
		keep[name] = true
	}
	var foreign, gone []string
	for _, name := range slices.Sorted(maps.Keys(t.was)) {
		if !keep[name] {
			gone = append(gone, name)
		}
	}
	for _, name := range slices.Concat(names, gone) {
		if err := ctx.Err(); err != nil {
			return err
		}
		ours, err := t.ours(name)
		if err != nil {
			return err
		}
		if !ours {
			foreign = append(foreign, name)
		}
	}
	if len(foreign) > 0 {
		more := ""
		if len(foreign) > maxNamed {
			more = fmt.Sprintf(" and %d more", len(foreign)-maxNamed)
		}
		return fmt.Errorf("%w, or changed since: %s%s", ErrForeign, strings.Join(foreign[:min(len(foreign), maxNamed)], ", "), more)
	}
	if err := t.root.Mkdir(ownDir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if t.was == nil { // so that no ingest takes the notes of a run that did not end for documents
		if err := t.manifest(&Manifest{Format: format, Files: map[string]string{}}); err != nil {
			return err
		}
	}
	var err error
	t.journal, err = t.root.OpenFile(filepath.FromSlash(journalFile), os.O_WRONLY|os.O_CREATE|os.O_APPEND|regular.NoWait, 0o600)
	for i := 0; err == nil && i < len(gone); i++ {
		err = t.remove(gone[i])
	}
	return err
}

// ours reports whether a file is missing or unchanged since an export wrote it.
func (t *target) ours(name string) (bool, error) {
	info, err := t.root.Lstat(filepath.FromSlash(name))
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	known := t.old[fold(name)]
	if !info.Mode().IsRegular() || known == nil {
		return false, nil
	}
	sum, err := sumOf(t.root, name)
	if err != nil || known[sum] || path.Ext(name) != ".md" {
		return known[sum], err
	}
	return t.taken(name)
}

func sumOf(root *os.Root, name string) (string, error) {
	f, err := regular.OpenIn(root, filepath.FromSlash(name))
	if err != nil {
		return "", err
	}
	h := sha256.New()
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), errors.Join(err, f.Close())
}

func (t *target) remove(name string) error {
	err := t.root.Remove(filepath.FromSlash(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	t.removed++
	for dir := path.Dir(name); dir != "." && t.root.Remove(filepath.FromSlash(dir)) == nil; dir = path.Dir(dir) {
	}
	return nil
}

// put writes a whole file, unless it has this content already.
func (t *target) put(ctx context.Context, name string, data []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	h := sha256.Sum256(data)
	sum := hex.EncodeToString(h[:])
	t.sums[name] = sum
	if t.old[fold(name)][sum] {
		if now, err := sumOf(t.root, name); err == nil && now == sum {
			t.unchanged++
			return nil
		}
	}
	if _, err := t.journal.WriteString(sum + " " + name + "\n"); err != nil {
		return err
	}
	t.written++
	return t.replace(name, data)
}

func (t *target) replace(name string, data []byte) error {
	if dir := path.Dir(name); dir != "." {
		if err := t.root.MkdirAll(filepath.FromSlash(dir), 0o700); err != nil {
			return err
		}
	}
	temp := filepath.FromSlash(newFile)
	if err := t.root.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := t.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = t.root.Rename(temp, filepath.FromSlash(name))
	}
	return err
}

func (t *target) end(m *Manifest) error {
	m.Files = t.sums
	if err := errors.Join(t.manifest(m), t.close()); err != nil {
		return err
	}
	return t.root.Remove(filepath.FromSlash(journalFile))
}

func (t *target) manifest(m *Manifest) error {
	data, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return err
	}
	return t.replace(manifestFile, append(data, '\n'))
}

func (t *target) close() error {
	if t.journal == nil {
		return nil
	}
	err := t.journal.Close()
	t.journal = nil
	return err
}

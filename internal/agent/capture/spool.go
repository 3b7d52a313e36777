package capture

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/mnem-project/mnem/internal/base/filestate"
)

const (
	// SpoolDir is the directory of the spool, inside .mnem.
	SpoolDir = "spool"
	// maxEntry is the longest file of the spool, in bytes: two paths and ids.
	maxEntry = 32 << 10
	spoolV   = 1
	// maxEntries is how many entries one run takes in, and maxPlaces how many places are kept.
	maxEntries = 64
	maxPlaces  = 1000
	// waiting ends the names of entries that are taken in once they are restAfter old: an agent is at work, or its
	// program ended without a word.
	waiting   = ".wait"
	restAfter = 10 * time.Minute
	// noteWithin is how long a hook waits for a run that is removing the same entry.
	noteWithin = 20 * time.Millisecond
)

// SpoolEntry says that a transcript has something to take in.
type SpoolEntry struct {
	V          int    `json:"v"`
	Host       Host   `json:"host"`
	Session    string `json:"session"`
	Root       string `json:"root"`       // the directory that the transcript may not lie outside of
	Transcript string `json:"transcript"` // from there
	Size       int64  `json:"size"`       // that it had, in bytes
	Dir        string `json:"dir,omitempty"`
	Event      Event  `json:"event"`
}

// ErrTranscript is returned for the path of a transcript that is not taken.
var ErrTranscript = errors.New("not a transcript that is read")

// EntryOf returns the entry of a call, with the first of the directories that its transcript lies in.
func EntryOf(c *Call, roots ...string) (*SpoolEntry, error) {
	path := filepath.Clean(c.Transcript)
	if formatOf(c.Host) == "" || c.Transcript == "" || !filepath.IsAbs(path) {
		return nil, fmt.Errorf("%w: %q", ErrTranscript, c.Transcript)
	}
	for _, root := range roots {
		if !filepath.IsAbs(root) {
			continue
		}
		rel, err := filepath.Rel(root, path)
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		e := &SpoolEntry{
			V: spoolV, Host: c.Host, Session: c.Session, Root: root, Transcript: rel, Dir: c.Dir, Event: c.Event,
		}
		if info, err := os.Stat(path); err == nil {
			e.Size = info.Size()
		}
		return e, nil
	}
	return nil, fmt.Errorf("%w: %s lies outside of the directories of the user and the project", ErrTranscript, path)
}

// talkEnding ends the names of conversations that were said to a hook, since their host has no file of them. The rest
// of the name has the name of the entry and a hash of what is in it, so that another one never takes its place.
const talkEnding = ".talk"

// NoteTalk keeps the conversation of a call in the spool of dir, a .mnem, until it is taken in, and returns the entry.
func NoteTalk(dir string, c *Call) (*SpoolEntry, error) {
	if err := makeSpool(dir); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(c.Talk)
	root := filepath.Join(dir, SpoolDir)
	name := stem(c.Host, c.Session) + "-" + hex.EncodeToString(sum[:8]) + talkEnding
	if err := write(filepath.Join(root, name), c.Talk); err != nil {
		return nil, err
	}
	dropTalks(dir, stem(c.Host, c.Session), name) // which have less of it
	return &SpoolEntry{
		V: spoolV, Host: c.Host, Session: c.Session, Root: root, Transcript: name, Size: int64(len(c.Talk)), Dir: c.Dir,
		Event: c.Event,
	}, nil
}

// dropTalks removes what was said of a session, but for one file. One that is read just now may stay: it goes with the
// next.
func dropTalks(dir, stem, but string) {
	list, _ := filepath.Glob(filepath.Join(dir, SpoolDir, stem+"-*"+talkEnding)) // a stem has no sign of a pattern
	for _, path := range list {
		if filepath.Base(path) != but {
			_ = os.Remove(path)
		}
	}
}

// formatOf is the format of a host's transcripts, "" if that is not read.
func formatOf(h Host) string {
	switch h {
	case ClaudeCode, Codex, Gemini, OpenCode, CopilotCLI:
		return string(h)
	}
	return ""
}

func (e *SpoolEntry) name() string { return stem(e.Host, e.Session) }

func stem(host Host, session string) string { return string(host) + "-" + digest(session) }

func stemOf(name string) string { return strings.TrimSuffix(name, filepath.Ext(name)) }

func makeSpool(dir string) error {
	err := os.Mkdir(filepath.Join(dir, SpoolDir), 0o700)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// Writable returns why nothing can be written to the spool in dir, nil if it can. Nothing is left of the trial.
func Writable(dir string) error {
	if err := makeSpool(dir); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Join(dir, SpoolDir), ".try-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// Note writes an entry to the spool in dir, which is a .mnem. Unless a turn has ended it is one that waits, and
// one that is there is left.
func Note(ctx context.Context, dir string, e *SpoolEntry, ended bool) error {
	data, err := json.Marshal(e)
	if err != nil || len(data) > maxEntry {
		return errors.Join(err, ErrTranscript)
	}
	path := filepath.Join(dir, SpoolDir, e.name()+".json")
	if !ended {
		if _, err := os.Stat(path); err == nil {
			return nil
		}
		path = waitingPath(path)
		if _, err := os.Stat(path); err == nil {
			return nil
		}
	}
	if err := makeSpool(dir); err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(ctx, noteWithin)
	defer stop()
	set := func([]byte) ([]byte, error) { return data, nil }
	if filestate.Edit(ctx, path, filestate.EditOptions{Limit: maxEntry}, set) == nil {
		return nil
	}
	return write(path, data)
}

func waitingPath(path string) string { return strings.TrimSuffix(path, ".json") + waiting }

func write(path string, data []byte) error {
	return filestate.Replace(path, 0o600, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

func drop(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Pending reports whether the spool in dir has entries to take in.
func Pending(dir string) bool {
	names, err := pending(dir, false)
	return err == nil && len(names) > 0
}

// pending returns the names of the files of entries, at most maxEntries: those that wait too if all are wanted.
func pending(dir string, all bool) (names []string, err error) {
	d, err := os.Open(filepath.Join(dir, SpoolDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	list, err := d.Readdirnames(-1)
	if err = errors.Join(err, d.Close()); err != nil {
		return nil, err
	}
	for _, name := range list {
		if strings.HasPrefix(name, ".") {
			continue
		}
		switch filepath.Ext(name) {
		case ".json":
			names = append(names, name)
		case waiting:
			info, err := os.Lstat(filepath.Join(dir, SpoolDir, name))
			if err == nil && (all || time.Since(info.ModTime()) > restAfter) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names[:min(len(names), maxEntries)], nil
}

type spooled struct {
	*SpoolEntry
	path string
	data []byte
}

// wait has the entry wait with what was said after it.
func (s *spooled) wait() error {
	path := waitingPath(s.path)
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	return write(path, s.data)
}

// readEntry reads an entry, nil if it was removed in the meantime. One that is damaged is removed: nothing says which
// session it is of, and the next hook of that session writes it again. So is one of a session that is private.
func readEntry(dir, name string) (*spooled, error) {
	s := &spooled{SpoolEntry: new(SpoolEntry), path: filepath.Join(dir, SpoolDir, name)}
	var err error
	s.data, err = filestate.Read(s.path, maxEntry)
	if s.data == nil && err == nil {
		return nil, nil
	}
	private, privateErr := isPrivate(stemOf(s.path))
	if privateErr != nil {
		return nil, privateErr
	}
	bad := private || err == nil && (json.Unmarshal(s.data, s.SpoolEntry) != nil || s.V != spoolV || s.name() != stemOf(name) ||
		formatOf(s.Host) == "" || !filepath.IsAbs(s.Root) || !filepath.IsLocal(s.Transcript))
	if bad || errors.Is(err, filestate.ErrUnfit) {
		return nil, os.Remove(s.path)
	}
	return s, err
}

// privateEnding ends the names of the files of sessions that are not noted. They are empty.
const privateEnding = ".private"

// MarkPrivate has nothing be noted of a session any more, and forgets what was noted of it and not taken in yet. It
// stays so: the transcript has what was said.
func MarkPrivate(dir string, c *Call) error {
	path := filepath.Join(dir, SpoolDir, stem(c.Host, c.Session))
	private, err := isPrivate(path)
	if err != nil || private {
		return err
	}
	if err := makeSpool(dir); err != nil {
		return err
	}
	if err := write(path+privateEnding, nil); err != nil {
		return err
	}
	for _, ending := range []string{".json", waiting, ".place", ".shown", toldEnding} {
		err = errors.Join(err, drop(path+ending))
	}
	dropTalks(dir, stem(c.Host, c.Session), "")
	return err
}

// Private reports whether nothing may be noted of a session.
func Private(dir string, c *Call) (bool, error) {
	return isPrivate(filepath.Join(dir, SpoolDir, stem(c.Host, c.Session)))
}

func isPrivate(path string) (bool, error) {
	_, err := os.Lstat(path + privateEnding)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return false, nil
	}
	return err == nil, err
}

// done removes the entry, unless a hook wrote it again, and the conversation that was said to one.
func (s *spooled) done(ctx context.Context) error {
	if strings.HasSuffix(s.Transcript, talkEnding) && s.Root == filepath.Dir(s.path) {
		if err := drop(filepath.Join(s.Root, s.Transcript)); err != nil {
			return err
		}
	}
	return filestate.Edit(ctx, s.path, filestate.EditOptions{Limit: maxEntry}, func(now []byte) ([]byte, error) {
		if string(now) == string(s.data) {
			return nil, nil
		}
		return now, nil
	})
}

// tidy removes the places, and what was shown and given in sessions, beyond those that are kept, the oldest first.
func tidy(dir string) error {
	var errs error
	for _, ending := range []string{".place", ".shown", toldEnding, givenEnding, talkEnding} {
		list, err := filesOf(dir, ending) // the newest first
		for _, f := range list[min(len(list), maxPlaces):] {
			err = errors.Join(err, os.Remove(f.path))
		}
		errs = errors.Join(errs, err)
	}
	return errs
}

type spoolFile struct {
	path    string
	changed time.Time
}

// filesOf returns the files of such endings, the newest first.
func filesOf(dir string, endings ...string) ([]spoolFile, error) {
	list, err := os.ReadDir(filepath.Join(dir, SpoolDir))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var files []spoolFile
	for _, e := range list {
		if strings.HasPrefix(e.Name(), ".") || !slices.Contains(endings, filepath.Ext(e.Name())) {
			continue
		}
		if info, err := e.Info(); err == nil {
			files = append(files, spoolFile{filepath.Join(dir, SpoolDir, e.Name()), info.ModTime()})
		}
	}
	slices.SortFunc(files, func(a, b spoolFile) int {
		return cmp.Or(b.changed.Compare(a.changed), strings.Compare(a.path, b.path))
	})
	return files, err
}

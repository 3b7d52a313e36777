package gitdir

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/internal/base/regular"
)

const (
	// maxLog is how much of a log is read, in bytes: of a longer one its first 64 KiB and its end.
	maxLog   = 1 << 20
	logStart = 64 << 10
	// MaxOutput is how much of what git prints is read, in bytes.
	MaxOutput = 16 << 20
)

// entry is one line of a log: a ref moved.
type entry struct {
	old, now string // ids of commits
	time     int64  // in seconds
	message  string
}

// What git writes into logs.
const (
	msgMoving  = "checkout: moving from "
	msgCreated = "branch: Created from "
	msgRenamed = "Branch: renamed "
	msgCopied  = "Branch: copied "
)

// moved returns between which branches or commits HEAD moved by a checkout.
func (e entry) moved() (from, to string, ok bool) {
	rest, ok := strings.CutPrefix(e.message, msgMoving)
	if !ok {
		return "", "", false
	}
	return strings.Cut(rest, " to ") // neither can hold a space
}

// log returns the lines of a log in their order, of a work tree's own HEAD or of a shared ref.
func (t *Tree) log(ctx context.Context, dir, ref string) ([]entry, error) {
	if t.binary {
		return t.askLog(ctx, dir, ref)
	}
	path := filepath.Join(dir, "logs", filepath.FromSlash(ref))
	if list, ok := t.logs[path]; ok {
		return list, nil
	}
	data, err := t.readLog(path)
	if err != nil {
		return nil, err
	}
	var list []entry
	for line := range bytes.Lines(data) {
		if e, ok := parseEntry(strings.TrimRight(string(line), "\n")); ok {
			list = append(list, e)
		}
	}
	if t.logs == nil {
		t.logs = make(map[string][]entry)
	}
	t.logs[path] = list
	return list, nil
}

// readLog returns what a log holds, its beginning and end where it is long, nil where there is none.
func (t *Tree) readLog(path string) (data []byte, err error) {
	t.reads++
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotDir):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read git file: %w", err)
	case info.IsDir():
		return nil, nil // the logs of branches whose names begin with this one's
	case !info.Mode().IsRegular():
		return nil, &Error{path, "not a regular file"}
	}
	f, err := regular.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read git file: %w", err)
	}
	defer func() { _ = f.Close() }() // only read from
	size := info.Size()
	data = make([]byte, min(size, maxLog))
	if size <= maxLog {
		n, err := io.ReadFull(f, data)
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, fmt.Errorf("read git file: %w", err)
		}
		return data[:n], nil
	}
	_, errStart := f.ReadAt(data[:logStart], 0)
	_, errEnd := f.ReadAt(data[logStart:], size-(maxLog-logStart))
	if err := errors.Join(errStart, errEnd); err != nil {
		return nil, fmt.Errorf("read git file: %w", err)
	}
	// The cut makes one line of two, with the end of the second for its message: it is left out.
	start := bytes.LastIndexByte(data[:logStart], '\n') + 1
	end := logStart + bytes.IndexByte(data[logStart:], '\n') + 1
	return slices.Delete(data, start, end), nil
}

// parseEntry reads a line: OLD NEW NAME <MAIL> SECONDS ZONE, a tab, and the message.
func parseEntry(line string) (e entry, ok bool) {
	head, message, _ := strings.Cut(line, "\t")
	ids := strings.SplitN(head, " ", 3)
	i := strings.LastIndex(head, "> ")
	if len(ids) < 3 || i < 0 || !isObject(ids[0]) || !isObject(ids[1]) {
		return e, false
	}
	seconds, _, _ := strings.Cut(head[i+2:], " ")
	at, err := strconv.ParseInt(seconds, 10, 64)
	return entry{ids[0], ids[1], at, message}, err == nil
}

// git runs git in the work tree.
func (t *Tree) git(ctx context.Context, args ...string) (string, bool, error) {
	if t.opt.Git == nil {
		return "", false, &Error{filepath.Join(t.Dir, "HEAD"), "refs are in git's binary format, and there is no git to ask"}
	}
	return t.opt.Git(ctx, t.Work, args...)
}

// askHead asks git what HEAD is at.
func (t *Tree) askHead(ctx context.Context) (ref string, symbolic bool, err error) {
	t.binary = true
	out, ok, err := t.git(ctx, "symbolic-ref", "--quiet", "HEAD")
	if err == nil && !ok {
		out, _, err = t.git(ctx, "rev-parse", "--verify", "--quiet", "HEAD")
	}
	return strings.TrimSpace(out), ok, err
}

// askLog asks git for a log. It does not say where a ref was before a line: that is where the line before left it.
func (t *Tree) askLog(ctx context.Context, dir, ref string) ([]entry, error) {
	if list, ok := t.logs[ref]; ok {
		return list, nil
	}
	if dir != t.Dir && ref == "HEAD" {
		ref = "main-worktree/HEAD"
	}
	if tip, err := t.Tip(ctx, ref); err != nil || tip == "" {
		return nil, err
	}
	out, ok, err := t.git(ctx, "log", "-g", "--date=unix", "--format=%H %gd %gs", "--max-count=4096", "--end-of-options", ref)
	if err != nil || !ok {
		return nil, err
	}
	var list []entry
	for line := range strings.Lines(out) {
		id, rest, _ := strings.Cut(strings.TrimRight(line, "\n"), " ")
		i := strings.Index(rest, "@{")
		end := strings.Index(rest, "} ")
		if !isObject(id) || i < 0 || end < i {
			continue
		}
		if at, err := strconv.ParseInt(rest[i+2:end], 10, 64); err == nil {
			list = append(list, entry{now: id, time: at, message: rest[end+2:]})
		}
	}
	slices.Reverse(list)
	for i := 1; i < len(list); i++ {
		list[i].old = list[i-1].now
	}
	if t.logs == nil {
		t.logs = make(map[string][]entry)
	}
	t.logs[ref] = list
	return list, nil
}

// CommitAt returns the commit that HEAD of the work tree was at when a number of seconds since 1970 began, as its log
// tells; "" where that begins later.
func (t *Tree) CommitAt(ctx context.Context, seconds int64) (string, error) {
	list, err := t.log(ctx, t.Dir, "HEAD")
	if err != nil {
		return "", err
	}
	for _, e := range slices.Backward(list) {
		if e.time <= seconds {
			return e.now, nil
		}
	}
	return "", nil
}

package capture

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/filestate"
	"github.com/mnem-project/mnem/internal/base/regular"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/session"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

const (
	// toldEnding ends the names of the files that hooks write, givenEnding of those that say what is recorded.
	toldEnding  = ".told"
	givenEnding = ".given"
	// maxToldLine is the longest line of them, and maxTold the longest file, in bytes. Beyond it the oldest half goes.
	maxToldLine = 64 << 10
	maxTold     = 1 << 20
	// maxToldFiles is how many sessions are looked through for what was given last.
	maxToldFiles = 64
)

// Told records what a hook gave an agent, one line of a file.
type Told struct {
	V       int        `json:"v"`
	Time    graph.Time `json:"time"`
	Host    Host       `json:"host"`
	Session string     `json:"session"` // the host's id of it
	Event   Event      `json:"event"`
	Commit  ipld.CID   `json:"commit"` // that was asked, undefined where none was
	Items   []graph.ID `json:"items,omitempty"`
	Tokens  int        `json:"tokens,omitempty"` // of the items
	Text    string     `json:"text,omitempty"`   // SHA-256 of all that was given, in hexadecimal; "" for nothing
	Receipt ipld.CID   `json:"receipt"`          // undefined where nothing of the memory was given
	Why     string     `json:"why,omitempty"`    // why nothing could be asked
	// Draft is the receipt, until the repository has it.
	Draft *core.DraftReceipt `json:"draft,omitempty"`
}

// NoteTold notes what an agent was given, in dir, which is a .mnem. It waits as long as Note does. A crash of the
// system may lose the line, one of the process does not.
func NoteTold(ctx context.Context, dir string, t *Told) error {
	t.V = spoolV
	line, err := json.Marshal(t)
	if err == nil && len(line) >= maxToldLine {
		t.Draft, t.Receipt = nil, ipld.CID{}
		line, err = json.Marshal(t)
	}
	if err != nil || len(line) >= maxToldLine {
		return errors.Join(err, ErrInput)
	}
	if err := makeSpool(dir); err != nil {
		return err
	}
	path := filepath.Join(dir, SpoolDir, stem(t.Host, t.Session)+toldEnding)
	ctx, stop := context.WithTimeout(ctx, noteWithin)
	defer stop()
	unlock, err := filestate.Lock(ctx, path)
	if err != nil {
		return err
	}
	return errors.Join(appendLine(path, line), unlock())
}

// appendLine adds a line to a file, whose last line a crash may have cut. A file that would be too long loses its
// older half.
func appendLine(path string, line []byte) error {
	if info, err := os.Lstat(path); err == nil && info.Size()+int64(len(line)) > maxTold {
		data, err := filestate.Read(path, maxTold+maxToldLine)
		if err != nil && !errors.Is(err, filestate.ErrUnfit) {
			return err
		}
		return write(path, append(newer(data), append(line, '\n')...))
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND|regular.NoWait, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = filestate.ErrUnfit
	}
	if err == nil && info.Size() > 0 {
		last := make([]byte, 1)
		if _, err = f.ReadAt(last, info.Size()-1); err == nil && last[0] != '\n' {
			line = append([]byte("\n"), line...)
		}
	}
	if err == nil {
		_, err = f.Write(append(line, '\n'))
	}
	return errors.Join(err, f.Close())
}

func newer(data []byte) []byte {
	data = data[len(data)/2:]
	return data[bytes.IndexByte(data, '\n')+1:]
}

// readTold reads what was given in a session, the oldest first. Damaged lines count as none.
func readTold(path string) (list []*Told, data []byte, err error) {
	data, err = filestate.Read(path, maxTold+maxToldLine)
	if errors.Is(err, filestate.ErrUnfit) {
		return nil, nil, nil
	}
	for line := range bytes.Lines(data) {
		t := new(Told)
		if json.Unmarshal(line, t) == nil && t.V == spoolV && stem(t.Host, t.Session) == filepath.Base(stemOf(path)) {
			list = append(list, t)
		}
	}
	return list, data, err
}

// LastTold returns what agents were given last, the newest first, at most n times: in one session, by the host's
// id of it or the name that SessionName gives it, or with "" in any.
func LastTold(dir, session string, n int) ([]*Told, error) {
	files, err := filesOf(dir, toldEnding, givenEnding)
	if err != nil {
		return nil, err
	}
	var list []*Told
	seen := make(map[string]bool)
	stems := stemsOf(session)
	for i, file := range files {
		if len(list) >= n && list[n-1].Time >= graph.From(file.changed) || session == "" && i >= maxToldFiles {
			break
		}
		if session != "" && !slices.Contains(stems, filepath.Base(stemOf(file.path))) {
			continue
		}
		some, _, err := readTold(file.path)
		if err != nil {
			return nil, err
		}
		for _, t := range some {
			key := t.Time.String() + string(t.Event) + t.Session + t.Text
			if !seen[key] { // else it was recorded, and then moved
				seen[key] = true
				list = append(list, t)
			}
		}
		slices.SortStableFunc(list, func(a, b *Told) int { return cmp.Compare(b.Time, a.Time) })
	}
	return list[:min(n, len(list))], nil
}

// lastFiles is how many sessions are looked through for the last one.
const lastFiles = 8

// LastCommit returns the commit that the memory was at when an agent of another session was given something last,
// undefined if that is not known.
func LastCommit(dir string, c *Call) (ipld.CID, error) {
	files, err := filesOf(dir, toldEnding, givenEnding)
	if err != nil {
		return ipld.CID{}, err
	}
	files = slices.DeleteFunc(files, func(f spoolFile) bool {
		return filepath.Base(stemOf(f.path)) == stem(c.Host, c.Session)
	})
	var last *Told
	for _, f := range files[:min(len(files), lastFiles)] {
		list, _, err := readTold(f.path)
		if err != nil {
			return ipld.CID{}, err
		}
		for _, t := range list {
			if t.Commit.Defined() && (last == nil || t.Time >= last.Time) {
				last = t
			}
		}
	}
	if last == nil {
		return ipld.CID{}, nil
	}
	return last.Commit, nil
}

// stemsOf are how the names of the files of a session may begin, by the host's id of it or its name.
func stemsOf(session string) (stems []string) {
	for _, host := range Hosts() {
		stems = append(stems, stem(Host(host), session))
		if id, ok := strings.CutPrefix(session, sessions+host+"/"); ok {
			stems = append(stems, stem(Host(host), id), host+"-"+id)
		}
	}
	return stems
}

// Unrecorded reports whether hooks gave agents what no session has recorded yet.
func Unrecorded(dir string) bool {
	files, err := filesOf(dir, toldEnding)
	return err == nil && len(files) > 0
}

// RecordTold records what agents were given as receipts, one operation for a session, and returns how many.
func RecordTold(ctx context.Context, r *core.Repo, dir string, by state.Stamp) (int, error) {
	files, err := filesOf(dir, toldEnding)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, file := range files[:min(len(files), maxEntries)] {
		some, err := recordFile(ctx, r, file.path, by)
		if err != nil {
			return n, err
		}
		n += some
	}
	return n, nil
}

// recordFile records what was given in one session, and then moves it to the file of what is recorded.
func recordFile(ctx context.Context, r *core.Repo, path string, by state.Stamp) (int, error) {
	if private, err := isPrivate(stemOf(path)); err != nil {
		return 0, err
	} else if private {
		return 0, os.Remove(path)
	}
	list, data, err := readTold(path)
	if err != nil {
		return 0, err
	}
	var drafts []*core.DraftReceipt
	for _, t := range list {
		if t.Draft == nil {
			continue
		}
		t.Draft.Time = t.Time
		err := session.CheckDraft(ctx, r, t.Draft)
		switch {
		case errors.Is(err, state.ErrInvalid) || err == nil && t.Draft.CID() != t.Receipt:
			t.Receipt = ipld.CID{} // another repository was here, or another version of this program
		case err != nil:
			return 0, err
		default:
			drafts = append(drafts, t.Draft)
		}
	}
	n := 0
	if len(drafts) > 0 {
		t := list[0]
		by.Agent = string(t.Host)
		n, err = session.RecordDrafts(ctx, r, SessionName(t.Host, t.Session), drafts, by)
		if err != nil && !errors.Is(err, state.ErrInvalid) { // the session has ended
			return 0, err
		}
	}
	if err := moveTold(ctx, path, list); err != nil {
		return n, err
	}
	return n, filestate.Edit(ctx, path, filestate.EditOptions{Limit: maxTold + maxToldLine},
		func(now []byte) ([]byte, error) {
			if rest, ok := bytes.CutPrefix(now, data); ok && len(rest) > 0 {
				return rest, nil
			} else if !ok {
				return now, nil // it was made shorter: what is recorded is passed over the next time
			}
			return nil, nil
		})
}

// moveTold adds lines to the file of what is recorded, without the texts of prompts, which the repository has.
func moveTold(ctx context.Context, path string, list []*Told) error {
	path = stemOf(path) + givenEnding
	unlock, err := filestate.Lock(ctx, path)
	if err != nil {
		return err
	}
	for _, t := range list {
		t.Draft = nil
		line, lineErr := json.Marshal(t)
		if err = errors.Join(err, lineErr); err == nil {
			err = appendLine(path, line)
		}
	}
	return errors.Join(err, unlock())
}

const (
	maxShown  = 1000 // how many nodes are remembered as shown in one session
	shownLine = 37   // bytes: an id and the end of its line
)

func shownPath(dir string, c *Call) string {
	return filepath.Join(dir, SpoolDir, stem(c.Host, c.Session)+".shown")
}

// Shown returns the nodes that the agent of a session was given, the oldest first. What is damaged counts as
// nothing: then something is shown again.
func Shown(dir string, c *Call) ([]graph.ID, error) {
	data, err := filestate.Read(shownPath(dir, c), maxShown*shownLine)
	if err != nil {
		return nil, err
	}
	var ids []graph.ID
	for line := range bytes.Lines(data) {
		id, err := graph.ParseID(string(bytes.TrimSuffix(line, []byte("\n"))))
		if err != nil {
			return nil, nil
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// NoteShown remembers nodes as shown in a session, and forgets the oldest where there are too many.
func NoteShown(dir string, c *Call, ids []graph.ID) error {
	if err := makeSpool(dir); err != nil {
		return err
	}
	var b []byte
	for _, id := range ids[max(0, len(ids)-maxShown):] {
		b = append(append(b, id.String()...), '\n')
	}
	return write(shownPath(dir, c), b)
}

// ForgetShown forgets what was shown in a session: its agent has forgotten it too.
func ForgetShown(dir string, c *Call) error { return drop(shownPath(dir, c)) }

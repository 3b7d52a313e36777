package capture

import (
	"bytes"
	"path/filepath"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/filestate"
)

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

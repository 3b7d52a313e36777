package sources

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/state"
)

// SourceState is the state of a source of a memory.
type SourceState string

// The states of a source.
const (
	SourceUnchanged  SourceState = "unchanged"
	SourceMoved      SourceState = "moved"   // the same lines are elsewhere in the file
	SourceChanged    SourceState = "changed" // other text
	SourceRemoved    SourceState = "removed" // no such file, or fewer lines
	SourceUnhashed   SourceState = "unhashed"
	SourceUnreadable SourceState = "unreadable" // too large, no regular file, or reading failed
	SourceUnchecked  SourceState = "unchecked"  // no file, or of a project without a root
)

const (
	// MaxSourceFile is the longest file that sources are looked up in.
	MaxSourceFile = 16 << 20
	// maxKeptFiles bounds the bytes of files that are kept while sources are checked.
	maxKeptFiles = 32 << 20
	// maxSought bounds the bytes that are hashed to find out where lines went.
	maxSought = 64 << 20
	// MaxShown is how many bytes of a changed span are returned, whole lines apart from the last.
	MaxShown = 4096
)

// SourceEntry is one source of a node.
type SourceEntry struct {
	Node   graph.ID
	Key    string // of the node, "" for none
	Index  int    // in the node's list
	Text   string // as the node has it
	Source Source // the zero Source if the text is none
}

// SourceCheck is the state of a source.
type SourceCheck struct {
	SourceEntry
	State SourceState
	Now   Source // of a file that is there: with the hash it has now, and the lines if they moved
	Span  string // the current text if it changed, moved or has no hash, at most MaxShown bytes
	Why   string // the reason if it is unreadable, removed or unchecked, for people
}

// Gone reports whether the source of the memory no longer exists, so that the memory must be checked.
func (c *SourceCheck) Gone() bool {
	return c.State == SourceChanged || c.State == SourceRemoved
}

// List calls fn for each source of nodes, in the order of their names, or for those of all nodes, in id order, without
// names. Text that is no source comes too, with the zero Source. It ends at the first error of fn.
func List(ctx context.Context, s *core.Snapshot, names []string, fn func(SourceEntry) error) error {
	each := func(n *graph.Node) error {
		for _, e := range sourcesOf(n) {
			if err := fn(e); err != nil {
				return err
			}
		}
		return nil
	}
	if len(names) == 0 {
		for e, err := range s.Nodes(ctx, graph.ID{}) {
			if err == nil {
				err = each(e.Node)
			}
			if err != nil {
				return err
			}
		}
	}
	for _, name := range names {
		n, err := namedNode(ctx, s, name)
		if err == nil {
			err = each(n)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func sourcesOf(n *graph.Node) []SourceEntry {
	out := make([]SourceEntry, len(n.Sources))
	for i, text := range n.Sources {
		src, err := Parse(text)
		if err != nil {
			src = Source{}
		}
		out[i] = SourceEntry{n.ID, n.Key, i, text, src}
	}
	return out
}

// Compare checks the sources that Sources yields, passes each check to fn, and returns those that are Gone, without
// their spans, and the number of each state.
func Compare(
	ctx context.Context, s *core.Snapshot, names []string, files *Checker, fn func(*SourceCheck) error,
) (gone []SourceCheck, counts map[SourceState]int, err error) {
	counts = make(map[SourceState]int)
	err = List(ctx, s, names, func(e SourceEntry) error {
		check := files.Check(e)
		counts[check.State]++
		if check.Gone() {
			kept := check
			kept.Span = "" // of many, they would be much
			gone = append(gone, kept)
		}
		return fn(&check)
	})
	return gone, counts, err
}

// Checker compares sources with files. It is for one goroutine.
type Checker struct {
	// Root returns the files of a project, "" for sources that name none; nil if there are none.
	// The file system must not lead out of its root: os.Root keeps links from that.
	Root func(project string) fs.FS

	files map[string]*readFile
	size  int
}

type readFile struct {
	data []byte
	err  error
}

var errTooLarge = fmt.Errorf("more than %d bytes", MaxSourceFile)
var errNoFile = errors.New("no regular file")
var errOwnFile = errors.New("a file of a repository is no source")

func (c *Checker) read(fsys fs.FS, src Source) ([]byte, error) {
	key := src.Project + "\x00" + src.Path
	if f, ok := c.files[key]; ok {
		return f.data, f.err
	}
	data, err := readBounded(fsys, src.Path)
	if c.files == nil || c.size+len(data) > maxKeptFiles {
		c.files, c.size = make(map[string]*readFile), 0
	}
	c.files[key] = &readFile{data, err}
	c.size += len(data) + len(key)
	return data, err
}

// isOwn reports whether any system would take a name for a repository's directory.
func isOwn(name string) bool {
	return strings.EqualFold(strings.TrimRight(name, ". "), core.DirName)
}

func readBounded(fsys fs.FS, path string) ([]byte, error) {
	at := strings.Split(path, "/")
	if slices.ContainsFunc(at, isOwn) {
		return nil, errOwnFile
	}
	for i := 1; i < len(at); i++ { // no path exists below a file; systems report it differently
		info, err := fs.Stat(fsys, strings.Join(at[:i], "/"))
		if err != nil {
			break
		}
		if !info.IsDir() {
			return nil, fs.ErrNotExist
		}
	}
	// Reading a file that is not regular may not end, and opening it may block.
	info, err := fs.Stat(fsys, path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errNoFile
	}
	f, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxSourceFile+1))
	err = cmp.Or(err, f.Close())
	if err == nil && len(data) > MaxSourceFile {
		return nil, errTooLarge
	}
	return data, err
}

// Check returns the state of a source.
func (c *Checker) Check(e SourceEntry) SourceCheck {
	out := SourceCheck{SourceEntry: e, State: SourceUnchecked, Now: e.Source}
	src := e.Source
	if src.Kind != FileSource {
		return out
	}
	fsys := c.Root(src.Project)
	if fsys == nil {
		out.Why = "no root is known for the project"
		return out
	}
	data, err := c.read(fsys, src)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		out.State, out.Why = SourceRemoved, "no such file"
		return out
	case err != nil:
		out.State, out.Why = SourceUnreadable, plainError(err)
		return out
	}
	out.compare(data)
	return out
}

// plainError is an error without the path, which the source names.
func plainError(err error) string {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	return err.Error()
}

func (c *SourceCheck) compare(data []byte) {
	src := c.Source
	span, ok := spanOf(data, src.First, src.Last)
	if ok {
		sum := sha256.Sum256(span)
		c.Now.Hash = &sum
		if src.Hash != nil && sum == *src.Hash {
			c.State = SourceUnchanged
			return
		}
	}
	if src.Hash != nil && src.First > 0 {
		if first, found := findSpan(data, *src.Hash, src.First, src.Last-src.First+1); found {
			c.State = SourceMoved
			c.Now.First, c.Now.Last = first, first+src.Last-src.First
			c.Now.Hash = src.Hash
			span, _ = spanOf(data, c.Now.First, c.Now.Last)
			c.Span = beginningOf(span)
			return
		}
	}
	switch {
	case !ok:
		c.State, c.Why = SourceRemoved, "the file has fewer lines"
	case src.Hash == nil:
		c.State, c.Span = SourceUnhashed, beginningOf(span)
	default:
		c.State, c.Span = SourceChanged, beginningOf(span)
	}
}

// beginningOf returns the beginning of a span, whole characters only.
func beginningOf(span []byte) string {
	return strings.ToValidUTF8(string(span[:min(len(span), MaxShown)]), "\uFFFD")
}

// spanOf returns lines of a file, without the line end of the last; the whole file for line 0. ok
// is false if it has fewer lines.
func spanOf(data []byte, first, last int) (span []byte, ok bool) {
	if first == 0 {
		return data, true
	}
	ends := lineEnds(data)
	if last > len(ends) {
		return nil, false
	}
	return linesOf(data, ends, first, last), true
}

// linesOf returns lines first to last, which are there.
func linesOf(data []byte, ends []int, first, last int) []byte {
	from := 0
	if first > 1 {
		from = ends[first-2] + 1
	}
	return data[from:ends[last-1]]
}

// lineEnds returns where each line of a file ends, before its line end.
func lineEnds(data []byte) []int {
	var ends []int
	at := 0
	for line := range bytes.Lines(data) {
		ends = append(ends, at+len(bytes.TrimSuffix(line, []byte("\n"))))
		at += len(line)
	}
	return ends
}

// findSpan looks for n lines with a hash and returns the first of them; of several matches the nearest to the old
// position, of two equally near ones the earlier.
func findSpan(data []byte, hash [sha256.Size]byte, was, n int) (first int, ok bool) {
	ends := lineEnds(data)
	most := len(ends) - n + 1 // the last line if they can begin
	hashed := 0
	for low, high := min(was-1, most), was+1; low >= 1 || high <= most; {
		at := low
		if low < 1 || high <= most && high-was < was-low {
			at = high
			high++
		} else {
			low--
		}
		if hashed > maxSought {
			break
		}
		span := linesOf(data, ends, at, at+n-1)
		if hashed += len(span) + sha256.BlockSize; sha256.Sum256(span) == hash {
			return at, true
		}
	}
	return 0, false
}

// staleReason begins the reason of marks that MarkGone makes, and that Refresh takes off.
const staleReason = "source "

// MarkGone marks the nodes of checks that are Gone as stale, in one commit, or none if there are none. A node with a
// stronger mark keeps it.
func MarkGone(
	ctx context.Context, r *core.Repo, opt core.CommitOptions, checks []SourceCheck,
) (*memory.MarkResult, error) {
	return memory.DecideMarks(ctx, r, opt, len(checks) >= memory.ManyNodes, func(k *memory.Marker) (string, error) {
		for i := range checks {
			if err := gone(k, &checks[i]); err != nil {
				return "", err
			}
		}
		return "stale by their sources: " + memory.Listed(k.Named), nil
	})
}

func gone(k *memory.Marker, c *SourceCheck) error {
	if !c.Gone() || slices.Contains(k.Result.Marked, c.Node) {
		return nil
	}
	if _, _, err := k.Snapshot.Node(k.Context, c.Node); err != nil {
		return err
	}
	old, err := k.Now(c.Node)
	switch {
	case err != nil:
		return err
	case old != nil && old.State == graph.Stale:
		k.Result.Already = append(k.Result.Already, c.Node)
		return nil
	case old != nil:
		return nil
	}
	req := memory.MarkRequest{State: graph.Stale,
		Reason: staleReason + string(c.State) + ": " + c.Source.Place()}
	k.Set(req, c.Node, graph.ID{})
	k.Named = append(k.Named, c.Node)
	return nil
}

// Refresh updates the hashes of a node's file sources, and their lines if they moved, and removes a mark of MarkGone,
// in one commit, or none if all are right: the caller has read the memory again. It returns the state of each source;
// one that no longer exists stays unchanged. Files are read before taking the write lock, and again if the node's
// sources changed by then.
func Refresh(
	ctx context.Context, r *core.Repo, opt core.CommitOptions, name string, files *Checker,
) ([]SourceCheck, *core.CommitResult, error) {
	s, err := memory.Head(ctx, r, opt.Branch)
	if err != nil {
		return nil, nil, err
	}
	if opt.Expect != nil && *opt.Expect != s.CID() {
		return nil, nil, &state.ExpectError{Want: *opt.Expect, Have: s.CID()}
	}
	n, err := namedNode(ctx, s, name)
	for err == nil {
		var checks []SourceCheck
		for _, e := range sourcesOf(n) {
			checks = append(checks, files.Check(e))
		}
		checked := n
		var res *core.CommitResult
		res, err = memory.Decide(ctx, r, opt, false, func(s *core.Snapshot) (*core.Decision, error) {
			if n, err = namedNode(ctx, s, name); err != nil {
				return nil, err
			}
			if n.ID != checked.ID || !slices.Equal(n.Sources, checked.Sources) {
				return nil, errOtherSources
			}
			return refresh(memory.NewMarker(ctx, s), n, checks)
		})
		if err == nil {
			return checks, res, nil
		}
		if errors.Is(err, errOtherSources) {
			err = ctx.Err()
		}
	}
	return nil, nil, err
}

// errOtherSources says that a node has other sources than those that were compared with files.
var errOtherSources = errors.New("the node has other sources by now")

func namedNode(ctx context.Context, s *core.Snapshot, name string) (*graph.Node, error) {
	id, err := rank.Find(ctx, s, name, memory.IsShown)
	if err != nil {
		return nil, err
	}
	n, _, err := s.Node(ctx, id)
	return n, err
}

func refresh(k *memory.Marker, n *graph.Node, checks []SourceCheck) (*core.Decision, error) {
	list, gone := slices.Clone(n.Sources), false
	for _, c := range checks {
		switch c.State {
		case SourceChanged, SourceMoved, SourceUnhashed:
			list[c.Index] = c.Now.String()
		}
		gone = gone || c.State == SourceRemoved || c.State == SourceUnreadable
	}
	d := &core.Decision{Message: "refresh the sources of " + n.ID.String()}
	if !slices.Equal(list, n.Sources) {
		d.Changes = append(d.Changes, graph.Change{Node: &graph.NodeChange{ID: n.ID, Sources: list}})
	}
	old, err := k.Now(n.ID)
	if err == nil && old != nil && old.State == graph.Stale && !gone &&
		strings.HasPrefix(old.Reason, staleReason) {
		k.Remove(n.ID)
		d.Changes = append(d.Changes, k.Changes...)
	}
	return d, err
}

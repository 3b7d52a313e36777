package upkeep

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/filestate"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/exchange/remote"
	"github.com/mnem-project/mnem/internal/layout"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
)

type purgeRequest struct {
	Node   string `op:",arg,required,remote" doc:"a node by key, id, at least 4 digits of an id, or exact title; here - for the text on standard input, which a terminal is asked for" remote:"a node by key, id, at least 4 digits of an id, or exact title"`
	Reason string `op:",remote" doc:"why; shown with the redaction"`
	DryRun bool   `op:",remote" doc:"say what would be done and do nothing"`
	Yes    bool   `op:",remote" doc:"really erase: there is no way back"`
	verb.Actor
	verb.OnHead
	verb.Signing
	verb.Params

	Erased []byte `op:"-"` // the text to be erased
}

// write lets nothing be written that is not confirmed.
func (q *purgeRequest) Into(w *verb.Writing) { w.DryRun = !q.Yes }

// Purged describes a purge, made or planned.
type Purged struct {
	care.PurgeResult
	// Files are the repository's files outside the store that it removed, changed or could not change.
	Files []layout.File `json:"files"`
	// Elsewhere names the remotes, which may have it still.
	Elsewhere []string `json:"elsewhere"`
	DryRun    bool     `json:"dry_run"`
}

// Purge erases a node or a text from every commit for good.
var Purge = verb.Define(verb.Spec{
	Command: "purge", Right: verb.OwnRight,
	Usage: "NODE|- --yes", Args: "NODE|-", Group: "care", Effect: verb.Destroys,
	Title: "Erase a node or a text from every commit, for good",
	Doc: "Erase every version of a node in all commits, with its embeddings and content, and leave a\n" +
		"redaction in place of each, with reason, time and author. The node is first removed from every\n" +
		"branch and stage that has it; this is one operation, and it cannot be undone. Commits keep their\n" +
		"CIDs, and older ones show the redaction. Commits and imports cannot bring back what was erased.\n" +
		"Afterwards the store is compacted, so that no file of the repository holds the text. If the disk\n" +
		"has no room for that, the answer says that the erasure is pending: opening the repository for\n" +
		"writing, 'mnem gc' and the next purge continue it when there is room.\n\n" +
		"A purge also erases what only the node led to: entities, tags and subjects that are only a name and\n" +
		"that no edge of another node, old or new, ever reached; properties, keys and sources of its edges;\n" +
		"reasons of marks; recorded queries that contain its text.\n\n" +
		"Remaining traces are listed: messages, other nodes, edges, marks and names of refs that contain\n" +
		"the key, summary, context, content or a string property of the node (of 4 characters or more), a\n" +
		"word of these with letters and digits, or the name of something erased with it.\n\n" +
		"With - as NODE, every block that holds a text of 8 bytes or more is erased, whatever the block is:\n" +
		"the text as given, in other case, or with other signs between its words. The text is read from\n" +
		"standard input or from a prompt that does not show it. It is never an argument, which other\n" +
		"users could see. Of nodes, the versions that hold it are erased; of edges and marks, properties\n" +
		"and reasons; messages and queries whole. What cannot be erased is listed: commits and tags that\n" +
		"hold it elsewhere than in the message, operations, names of refs and sessions, receipts.\n\n" +
		"Files outside the store are cleaned too: mirrors of remotes, packs and uploads, paths of files that\n" +
		"were ingested, and what hooks noted. Settings that hold the text stay and are listed. The remotes\n" +
		"are named, as they may still have it: 'mnem push REMOTE --redactions' erases it there; until then\n" +
		"a transfer brings it back into the mirror.\n\n" +
		"A purge does not reach other clones, copies, exports, what the disk itself keeps, or the text in\n" +
		"another form such as base64; and if a text can be guessed, its CID confirms the guess. Without\n" +
		"--yes the command says what it would do and is refused.",
	Example: "  mnem purge bob --dry-run\n" +
		"  mnem purge bob --reason 'asked to be forgotten' --yes\n" +
		"  mnem purge - --reason 'a leaked key' --yes <key.txt",
}, purge)

func (q *purgeRequest) Check() error {
	switch {
	case q.Yes && q.DryRun:
		return verb.Exclude("yes", "dry-run")
	}
	return nil
}

// text reports whether a text is erased, and not a node.
func (q *purgeRequest) text() bool { return q.Node == verb.Itself }

// Prompt returns the question to a terminal, which does not show the input; "" for none.
func (q *purgeRequest) Prompt(args []string) string {
	if q.Check() != nil || !slices.Equal(args, []string{verb.Itself}) {
		return ""
	}
	return "text to erase: "
}

// prepare reads the text: all of standard input but for one line end.
func (q *purgeRequest) Prepare(ctx context.Context, s *verb.Service, _ any) error {
	if !q.text() {
		return nil
	}
	in, _, err := s.Caller.File(ctx, "-")
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // only read from
	data, err := io.ReadAll(io.LimitReader(in, care.MaxPurgeText+3))
	if err != nil {
		return fmt.Errorf("read the text: %w", err)
	}
	q.Erased = bytes.TrimSuffix(bytes.TrimSuffix(data, []byte("\n")), []byte("\r"))
	if n := len(q.Erased); n < care.MinPurgeText || n > care.MaxPurgeText {
		return verb.Usagef("the text on standard input has %d bytes, it needs %d to %d", n, care.MinPurgeText,
			care.MaxPurgeText)
	}
	return nil
}

func purge(ctx context.Context, s *verb.Service, q *purgeRequest) (*Purged, error) {
	set, done := s.Host.Progress()
	defer done()
	opt := care.PurgeOptions{
		Stamp: s.Commit.Stamp, Reason: q.Reason, DryRun: !q.Yes,
		Progress: func(what string, n int) { set(what, n, 0) },
	}
	files := &purgedFiles{dir: s.From.Path(), text: string(q.Erased)}
	if files.dir != "" {
		opt.Files = files.erase
	}
	elsewhere, err := files.remotes()
	if err != nil {
		return nil, err
	}
	var res *care.PurgeResult
	if q.text() {
		res, err = care.PurgeText(ctx, s.From, string(q.Erased), opt)
	} else {
		res, err = care.Purge(ctx, s.From, q.Node, opt)
	}
	var busy *core.InProgressError
	switch {
	case errors.As(err, &busy) && busy.Client != "":
		return nil, verb.Hintf(err, "that client is to end it, or you as that client: 'MNEM_CLIENT=%s mnem merge --abort --branch %s'",
			busy.Client, busy.Branch)
	case errors.Is(err, state.ErrConflict):
		return nil, verb.Hint(err, "end that merge first, with 'mnem merge --continue' or 'mnem merge --abort'",
			"end that merge first, with merge and continue or abort")
	case q.text() && errors.Is(err, store.ErrNotFound):
		return nil, verb.Hint(err, "give it exactly as it was written, or a part of it; other files, such as "+
			"exports and logs of other programs, are not searched", "")
	case err != nil:
		return nil, purgeHint(err)
	}
	out := &Purged{*res, files.list, elsewhere, !q.Yes}
	if !q.Yes && !q.DryRun {
		return out, verb.Answered(verb.Hint(verb.ErrUnconfirmed, "give --yes to erase it", "call again with yes to erase it"))
	}
	return out, nil
}

func purgeHint(err error) error {
	var missing *state.NotFoundError
	if !errors.As(err, &missing) {
		return err
	}
	if missing.Hidden == "" {
		return verb.Hint(err, "a node to be purged is named by its exact key, its id or at least 4 digits of it, or its "+
			"exact title; 'mnem ls' lists them", "name it by its exact key, id or title; retrieve finds nodes by words")
	}
	return verb.Hint(err, fmt.Sprintf("'mnem purge %s' erases it, 'mnem show %s --include %s' shows it, 'mnem restore %s' "+
		"brings it back", missing.ID, missing.ID, missing.Hidden, missing.ID),
		fmt.Sprintf("call again with node %s to erase it; show with include %s shows it, restore brings it back",
			missing.ID, missing.Hidden))
}

const (
	remotesFile    = "remotes.json"
	maxRemotesFile = 64 << 10
)

// purgedFiles erases from the files of a repository that are no part of its store.
type purgedFiles struct {
	dir  string // .mnem, "" for a repository that is not on disk
	text string // that is purged, "" for a node
	list []layout.File
}

// erase is care.PurgeOptions.Files.
func (p *purgedFiles) erase(ctx context.Context, holds func(string) bool, dry bool) (held bool, err error) {
	files, err := layout.Erase(ctx, p.dir, layout.EraseOptions{Holds: holds, DryRun: dry})
	if err != nil {
		return false, remote.FilesBusy(err)
	}
	for _, f := range files {
		held = held || f.Held
		f.Held = false // the dry run before may have listed it, found or not
		if !slices.Contains(p.list, f) {
			p.list = append(p.list, f)
		}
	}
	if !held && dry && p.text != "" {
		held, err = p.inMirrors(ctx)
	}
	return held, err
}

func (p *purgedFiles) inMirrors(ctx context.Context) (bool, error) {
	list, err := filepath.Glob(filepath.Join(p.dir, "remotes", "*", "mirror"))
	if err != nil {
		return false, err
	}
	for _, dir := range list {
		held, err := mirrorHolds(ctx, dir, p.text)
		if held || err != nil {
			return held, err
		}
	}
	return false, nil
}

func mirrorHolds(ctx context.Context, dir, text string) (held bool, err error) {
	r, err := care.Open(dir, core.Options{ReadOnly: true})
	switch {
	case errors.Is(err, store.ErrNotFound):
		return false, nil
	case errors.Is(err, store.ErrCorrupt): // its content is unknown; the next transfer rebuilds it
		return true, nil
	case err != nil:
		return false, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	by := state.Stamp{Author: "mnem", Time: graph.MinTime}
	_, err = care.PurgeText(ctx, r, text, care.PurgeOptions{Stamp: by, DryRun: true})
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

func (p *purgedFiles) remotes() (names []string, err error) {
	if p.dir == "" {
		return nil, nil
	}
	data, err := filestate.Read(filepath.Join(p.dir, remotesFile), maxRemotesFile)
	if err != nil || data == nil {
		return nil, err
	}
	var list struct{ Remotes []struct{ Name string } }
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", state.ErrInvalid, remotesFile, err)
	}
	for _, r := range list.Remotes {
		names = append(names, r.Name)
	}
	return names, nil
}

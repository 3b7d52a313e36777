package gitdir

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/internal/base/regular"
	"github.com/mnem-project/mnem/internal/gitrun"
)

const (
	// maxOutput bounds git's output in bytes, maxLog the requested lines of a log.
	maxOutput = 16 << 20
	maxLog    = 1 << 15
	// maxTail bounds the end of a log that is read, in bytes.
	maxTail = 64 << 10
	// maxTrees bounds the number of linked work trees.
	maxTrees = 256
)

// Git runs git in the work tree and returns its output. ok is false if it exits with code 1, which means no.
func (t *Tree) Git(ctx context.Context, args ...string) (out string, ok bool, err error) {
	printed := &gitrun.Buffer{Limit: maxOutput}
	err = gitrun.Run(t.command(ctx, args...), args[0], printed)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 1 && ctx.Err() == nil {
		return printed.String(), false, nil
	}
	return printed.String(), err == nil, gitrun.Interrupted(ctx, err)
}

// command returns git for the work tree. It only reads, never prompts, and finds no repository above the tree.
func (t *Tree) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := gitrun.Program(ctx, append([]string{"-C", t.Work, "--no-pager", "-c", "core.fsmonitor=false",
		"-c", "core.abbrev=40"}, args...)...)
	cmd.Env = append(cmd.Env, "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1",
		"GIT_CEILING_DIRECTORIES="+filepath.Dir(t.Work))
	return cmd
}

// patchIDs runs git and pipes its output through 'git patch-id'.
func (t *Tree) patchIDs(ctx context.Context, args ...string) (string, error) {
	from, to := t.command(ctx, args...), t.command(ctx, "patch-id", "--stable")
	pipe, err := from.StdoutPipe()
	if err != nil {
		return "", err
	}
	printed := &gitrun.Buffer{Limit: maxOutput}
	to.Stdin, to.Stdout = pipe, printed
	if err := to.Start(); err != nil {
		return "", fmt.Errorf("git patch-id: %w", err)
	}
	err = from.Run()
	err = errors.Join(err, to.Wait(), printed.Err())
	if err != nil {
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return printed.String(), nil
}

// Tip returns the id of the commit that a full ref points to, "" if there is no such ref.
func (t *Tree) Tip(ctx context.Context, ref string) (string, error) {
	out, _, err := t.Git(ctx, "rev-parse", "--verify", "--quiet", ref)
	return strings.TrimSpace(out), err
}

// entry is one line of a log: a ref moved.
type entry struct {
	old, now string // ids of commits; old is "" in the first line
	time     int64  // in seconds
	message  string
}

// Messages that git writes into logs.
const (
	msgMoving  = "checkout: moving from "
	msgCreated = "branch: Created from "
	msgRenamed = "Branch: renamed "
	msgCopied  = "Branch: copied "
)

// moved returns the branches or commits between which a checkout moved HEAD.
func (e entry) moved() (from, to string, ok bool) {
	rest, ok := strings.CutPrefix(e.message, msgMoving)
	if !ok {
		return "", "", false
	}
	return strings.Cut(rest, " to ") // neither can hold a space
}

// log returns the newest lines of a ref's log, oldest first; none if there is no such ref.
func (t *Tree) log(ctx context.Context, ref string) ([]entry, error) {
	if list, ok := t.logs[ref]; ok {
		return list, nil
	}
	out, _, err := t.Git(ctx, "log", "-g", "--ignore-missing", "--no-show-signature", "--no-notes", "--date=unix",
		"--format=%H %gd %gs", "--max-count="+strconv.Itoa(maxLog), ref, "--")
	if err != nil {
		return nil, err
	}
	var list []entry
	for line := range strings.Lines(out) {
		if e, ok := parseEntry(strings.TrimRight(line, "\n")); ok {
			list = append(list, e)
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

// parseEntry parses a line in the format that log requests: ID REF@{SECONDS} MESSAGE.
func parseEntry(line string) (e entry, ok bool) {
	id, rest, _ := strings.Cut(line, " ")
	_, rest, _ = strings.Cut(rest, "@{")
	seconds, message, _ := strings.Cut(rest, "} ")
	at, err := strconv.ParseInt(seconds, 10, 64)
	return entry{now: id, time: at, message: message}, err == nil && isObject(id)
}

// headsHere returns the names of the HEADs of the work tree and of the main one.
func (t *Tree) headsHere() []string {
	if t.Linked() {
		return []string{"HEAD", "main-worktree/HEAD"}
	}
	return []string{"HEAD"}
}

// allHeads returns the names of the HEADs of all work trees.
func (t *Tree) allHeads() []string {
	refs := t.headsHere()
	others, err := os.ReadDir(filepath.Join(t.Common, "worktrees"))
	if err != nil {
		return refs
	}
	for _, o := range others[:min(len(others), maxTrees)] {
		if filepath.Join(t.Common, "worktrees", o.Name()) != t.Dir {
			refs = append(refs, "worktrees/"+o.Name()+"/HEAD")
		}
	}
	return refs
}

// unborn returns the messages at the end of HEAD's log, in order. Git prints no log of a HEAD that is on a branch
// without commits.
func (t *Tree) unborn() ([]entry, error) {
	f, err := regular.Open(filepath.Join(t.Dir, "logs", "HEAD"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read git file: %w", err)
	}
	defer func() { _ = f.Close() }() // only read from
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("read git file: %w", err)
	}
	data, err := io.ReadAll(io.NewSectionReader(f, max(0, info.Size()-maxTail), maxTail))
	var list []entry
	for line := range strings.Lines(string(data)) {
		_, message, _ := strings.Cut(strings.TrimRight(line, "\n"), "\t")
		list = append(list, entry{message: message})
	}
	return list, err
}

// CommitAt returns the commit that HEAD pointed to at a time, in seconds since 1970; "" if its log begins later.
func (t *Tree) CommitAt(ctx context.Context, seconds int64) (string, error) {
	list, err := t.log(ctx, "HEAD")
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

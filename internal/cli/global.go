package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mnem-project/mnem/internal/owner"
	"github.com/mnem-project/mnem/internal/text"
	"github.com/mnem-project/mnem/operation"
	"github.com/mnem-project/mnem/repo"
)

// The repositories that an answer with --with-global comes from, in the order of ties.
const (
	fromProject = "project"
	fromGlobal  = "global"
)

const (
	// fullShare is a score or a coverage of one, in the units of scores: 2^-16.
	fullShare = 1 << 16
	// leastShare is what the scores of a repository count at least: a vector may find what no word
	// of the question does.
	leastShare = fullShare / 16
	// maxPart bounds the answer of one repository, in bytes.
	maxPart = 64 << 20
)

// globalConflicts are flags that say nothing about an answer of two repositories.
var globalConflicts = []string{
	"batch", "explain", "exclude", "unseen", "summarize", "order", "global",
}

// ofProject are flags that are about the project's repository alone.
var ofProject = []string{
	"session", "receipt", "follow", "author", "agent", "task", "time", "at", "profile",
}

// part is the answer of one repository, as it prints it.
type part struct {
	Commit  string         `json:"commit"`
	Receipt *string        `json:"receipt"`
	Query   string         `json:"query"`
	Profile *string        `json:"profile"`
	Intent  *string        `json:"intent"`
	Items   []*partItem    `json:"items"`
	Budget  int            `json:"tokens_budget"`
	Dropped int            `json:"dropped"`
	By      dropCounts     `json:"dropped_by"`
	Seen    int            `json:"candidates_seen"`
	Warned  []*partWarning `json:"warnings"`
	share   int64          // what its scores count
}

// partItem is an item of an answer, and the repository it came from.
type partItem struct {
	Repository string          `json:"repository"`
	ID         string          `json:"id"`
	Key        *string         `json:"key"`
	Type       string          `json:"type"`
	Rank       int             `json:"rank"`
	Score      int64           `json:"score"`
	Tokens     int             `json:"tokens"`
	Rendered   string          `json:"rendered"`
	Lanes      json.RawMessage `json:"lanes"`
	Signals    json.RawMessage `json:"signals,omitempty"`
}

type partWarning struct {
	Repository string `json:"repository"`
	warningJSON
}

// fusedJSON is an answer of two repositories: that of one, and which each thing came from.
type fusedJSON struct {
	Commit       string         `json:"commit"`  // of the project
	Receipt      *string        `json:"receipt"` // of what the project alone answered
	Query        string         `json:"query"`
	Profile      *string        `json:"profile,omitempty"`
	Intent       *string        `json:"intent,omitempty"`
	Repositories []scopeJSON    `json:"repositories"`
	Items        []*partItem    `json:"items"`
	TokensUsed   int            `json:"tokens_used"`
	TokensBudget int            `json:"tokens_budget"`
	Dropped      int            `json:"dropped"`
	DroppedBy    dropCounts     `json:"dropped_by"`
	Candidates   int            `json:"candidates_seen"`
	Warnings     []*partWarning `json:"warnings"`
}

// scopeJSON is one of the repositories asked, and what its scores count, of 65,536.
type scopeJSON struct {
	Repository string  `json:"repository"`
	Commit     *string `json:"commit"` // null before the first
	Share      int64   `json:"share"`
	Items      int     `json:"items"` // of the answer
}

// withGlobal answers from the project's repository and the user's, as one list. Each answers on its
// own, by command lines run in this process, so that each is reached as any command reaches it.
func (c *cli) withGlobal(cmd *cobra.Command, opt *retrieveOptions, args []string) error {
	for _, name := range globalConflicts {
		if f := cmd.Flags().Lookup(name); f != nil && f.Changed {
			return usagef("--with-global and --%s exclude each other", name)
		}
	}
	if c.app.Remote {
		return fmt.Errorf("%w: another repository than the one that is served", errRemote)
	}
	project, err := c.dir()
	if err != nil {
		return err
	}
	global, err := c.hasGlobal()
	if err != nil {
		return err
	}
	if global == project {
		return usagef("--with-global: %s is the user's own repository itself", project)
	}
	q := &twofold{c: c, ctx: cmd.Context(), cmd: cmd}
	if err := q.readStdin(opt, args); err != nil {
		return err
	}
	ours, err := q.ask(fromProject, project, args)
	if err != nil {
		return err
	}
	theirs, err := q.ask(fromGlobal, global, args)
	var failed *operation.Error
	if errors.As(err, &failed) && failed.Outcome == operation.NotFound {
		theirs, err = &part{share: fullShare}, nil // it has no commit yet, so nothing to say
	}
	if err != nil {
		return err
	}
	limit, err := cmd.Flags().GetInt("limit")
	if err != nil {
		return err
	}
	if !cmd.Flags().Changed("limit") {
		limit = max(limit, len(ours.Items), len(theirs.Items)) // a profile may say more
	}
	fused := fuseParts(ours, theirs, limit)
	if c.global.json {
		return c.printJSON(fused)
	}
	return c.printFused(fused)
}

// twofold is one question to two repositories.
type twofold struct {
	c     *cli
	ctx   context.Context
	cmd   *cobra.Command
	stdin []byte // what was read of standard input, for both
}

// readStdin reads standard input where an argument names it: both repositories are told.
func (q *twofold) readStdin(opt *retrieveOptions, args []string) error {
	names := slices.Concat(args, opt.vectors, opt.sparse)
	if !slices.ContainsFunc(names, func(s string) bool {
		return s == stdinName || strings.HasSuffix(s, "="+stdinName) || strings.HasSuffix(s, "@"+stdinName)
	}) {
		return nil
	}
	in := newPatientReader(q.ctx, q.c.app.Stdin)
	data, err := io.ReadAll(io.LimitReader(in, maxPart+1))
	if err == nil && len(data) > maxPart {
		err = fmt.Errorf("%w: standard input: more than %d bytes", repo.ErrInvalid, maxPart)
	}
	q.stdin = data
	return err
}

// ask asks one repository.
func (q *twofold) ask(name, dir string, args []string) (*part, error) {
	line := append(strings.Fields(q.cmd.CommandPath())[1:], "--repo="+dir, "--json")
	q.cmd.Flags().Visit(func(f *pflag.Flag) {
		if slices.Contains([]string{"with-global", "repo", "json"}, f.Name) ||
			name == fromGlobal && slices.Contains(ofProject, f.Name) {
			return
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, v := range values {
			line = append(line, "--"+f.Name+"="+v)
		}
	})
	p := &part{share: fullShare}
	if err := q.run(name, append(append(line, "--"), args...), p); err != nil {
		return nil, err
	}
	for _, w := range p.Warned {
		w.Repository = name
	}
	if p.Query != "" && len(p.Items) > 0 {
		if err := q.cover(name, dir, p); err != nil {
			return nil, err
		}
	}
	for _, it := range p.Items {
		it.Repository = name
		it.Score = it.Score * p.share / fullShare
		first := "repository: " + name + "\n"
		it.Rendered = first + it.Rendered
		it.Tokens += text.EstimateTokens(first)
	}
	slices.SortFunc(p.Items, func(a, b *partItem) int { return cmp.Compare(a.Rank, b.Rank) })
	return p, nil
}

// cover finds out what the scores of a repository count: as much as its best item covers the
// question. Scores are shares of the best one's, so without it the best of a repository that knows
// nothing of the matter would be level with the best of one that does.
func (q *twofold) cover(name, dir string, p *part) error {
	line := []string{"check", "--repo=" + dir, "--json", "--gate=lexical"}
	if at := q.cmd.Flags().Lookup("at"); at.Changed && name == fromProject {
		line = append(line, "--at="+at.Value.String())
	}
	var got struct {
		Signals *struct {
			Coverage int64 `json:"coverage"`
		} `json:"signals"`
	}
	if err := q.run(name, append(line, "--", p.Query), &got); err != nil {
		return err
	}
	p.share = leastShare
	if got.Signals != nil {
		p.share = min(max(got.Signals.Coverage, leastShare), fullShare)
	}
	return nil
}

// run runs a command line in this process and reads what it prints.
func (q *twofold) run(name string, line []string, to any) error {
	var messages boundedBuffer
	out := &limitedBuffer{}
	app := *q.c.app
	app.Stdin, app.Stdout, app.Stderr = bytes.NewReader(q.stdin), out, &messages
	app.OutTTY, app.ErrTTY = false, false
	if name == fromGlobal {
		app.forwarded = false // it is about another repository, which another process may have
	}
	app.Getenv = func(key string) string {
		if key == profileEnv && name == fromGlobal {
			return ""
		}
		return q.c.app.Getenv(key)
	}
	by := q.c.by
	if name == fromGlobal {
		by.Session = ""
	}
	exit := app.Run(operation.WithCaller(q.ctx, by), line)
	if exit == owner.Elsewhere {
		return errElsewhere
	}
	if exit != 0 && out.b.Len() == 0 {
		err := readError(messages.b.Bytes())
		if err == nil {
			err = &operation.Error{Outcome: operation.WithExit(exit), Message: "no answer"}
		}
		err.Message = name + " repository: " + err.Message
		return err
	}
	if out.full {
		return fmt.Errorf("%w: the answer of the %s repository has more than %d bytes: bound it with "+
			"--limit and --budget", repo.ErrInvalid, name, maxPart)
	}
	if err := json.Unmarshal(out.b.Bytes(), to); err != nil {
		return fmt.Errorf("read the answer of the %s repository: %w", name, err)
	}
	return nil
}

// limitedBuffer keeps the first maxPart bytes of what is written to it.
type limitedBuffer struct {
	b    bytes.Buffer
	full bool
}

func (w *limitedBuffer) Write(p []byte) (int, error) {
	if room := maxPart - w.b.Len(); len(p) > room {
		w.full = true
		w.b.Write(p[:room])
		return len(p), nil
	}
	return w.b.Write(p)
}

// fuseParts makes one answer of two, each in its own order: next is the better of the two that are
// next, the project's where they are level. What does not fit the budget is left out and counted.
func fuseParts(ours, theirs *part, limit int) *fusedJSON {
	out := &fusedJSON{
		Commit: ours.Commit, Receipt: ours.Receipt, Query: ours.Query, Profile: ours.Profile,
		Intent: ours.Intent, Items: []*partItem{}, TokensBudget: ours.Budget,
		Dropped: ours.Dropped + theirs.Dropped, Candidates: ours.Seen + theirs.Seen,
		DroppedBy: dropCounts{
			Budget:    ours.By.Budget + theirs.By.Budget,
			Duplicate: ours.By.Duplicate + theirs.By.Duplicate,
		},
		Warnings: append(append([]*partWarning{}, ours.Warned...), theirs.Warned...),
	}
	counts := map[string]int{}
	a, b := ours.Items, theirs.Items
	for len(a)+len(b) > 0 && (limit == 0 || len(out.Items) < limit) {
		from := &a
		if len(a) == 0 || len(b) > 0 && b[0].Score > a[0].Score {
			from = &b
		}
		it := (*from)[0]
		*from = (*from)[1:]
		if out.TokensBudget > 0 && it.Tokens > out.TokensBudget-out.TokensUsed {
			out.Dropped++
			out.DroppedBy.Budget++
			continue
		}
		out.TokensUsed += it.Tokens
		out.Items = append(out.Items, it)
		it.Rank = len(out.Items)
		counts[it.Repository]++
	}
	out.Repositories = []scopeJSON{
		{fromProject, orNull(ours.Commit), ours.share, counts[fromProject]},
		{fromGlobal, orNull(theirs.Commit), theirs.share, counts[fromGlobal]},
	}
	return out
}

// printFused prints the rendered items with an empty line between them, as for one repository.
func (c *cli) printFused(out *fusedJSON) error {
	for i, it := range out.Items {
		if i > 0 {
			if err := c.printf("\n"); err != nil {
				return err
			}
		}
		if err := c.printf("%s", it.Rendered); err != nil {
			return err
		}
	}
	if err := c.out.Flush(); err != nil { // the summary comes after what it sums up
		return err
	}
	budget := "no budget"
	if out.TokensBudget > 0 {
		budget = fmt.Sprintf("of %d", out.TokensBudget)
	}
	c.remark("%s (%d of the project, %d global), %d tokens (%s), %d dropped, %s",
		plural(len(out.Items), "item"), out.Repositories[0].Items, out.Repositories[1].Items,
		out.TokensUsed, budget, out.Dropped, plural(out.Candidates, "candidate"))
	for _, w := range out.Warnings {
		_, err := fmt.Fprintf(c.app.Stderr, "warning: %s: %s (%s)\n", w.Repository, line(w.Message),
			line(w.Remedy))
		if err != nil {
			return err
		}
	}
	return nil
}

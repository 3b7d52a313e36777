package cli

import (
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/memory"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/repo"
)

// defaultSources is how many rows the commands about sources print unless told.
const defaultSources = 100

// sourceJSON is one source of a node.
type sourceJSON struct {
	Node    string  `json:"node"`
	Key     *string `json:"key"`
	Source  string  `json:"source"`
	Kind    *string `json:"kind"` // null for text that is no source
	Project *string `json:"project,omitempty"`
	Path    *string `json:"path,omitempty"`
	First   int     `json:"first,omitempty"`
	Last    int     `json:"last,omitempty"`
	Hash    *string `json:"sha256,omitempty"`
}

func jsonSource(e memory.SourceEntry) sourceJSON {
	s := e.Source
	out := sourceJSON{
		Node: e.Node.String(), Key: orNull(e.Key), Source: e.Text, Kind: orNull(string(s.Kind)),
		Project: orNull(s.Project), Path: orNull(s.Path), First: s.First, Last: s.Last,
	}
	if s.Hash != nil {
		out.Hash = orNull(hex.EncodeToString(s.Hash[:]))
	}
	return out
}

// sourceCheckJSON is what became of a source.
type sourceCheckJSON struct {
	sourceJSON
	State memory.SourceState `json:"state"`
	Now   *string            `json:"now"`  // as it would be written now, null where nothing is there
	Span  *string            `json:"span"` // what is there now, of what is not as it was
	Why   *string            `json:"why"`
}

func jsonSourceCheck(c *memory.SourceCheck) sourceCheckJSON {
	out := sourceCheckJSON{sourceJSON: jsonSource(c.SourceEntry), State: c.State, Why: orNull(c.Why)}
	switch c.State {
	case memory.SourceRemoved, memory.SourceUnreadable, memory.SourceUnchecked:
		return out
	}
	out.Now = orNull(c.Now.String())
	if c.State != memory.SourceUnchanged {
		out.Span = &c.Span
	}
	return out
}

func (c *cli) sourcesCommand() *cobra.Command {
	var limit int
	var kinds []string
	cmd := &cobra.Command{
		Use:     "sources [NODE…]",
		GroupID: groupRead,
		Short:   "Tell where memories come from, and whether it is still there",
		Long: "List the sources of all nodes, or of some. A source is one of\n\n" +
			"  file:PATH, file://PROJECT/PATH   a file, with ?sha256=HEX and #L10 or #L10-L20 behind it\n" +
			"  url:https://…                    a page\n" +
			"  conversation:ID, ID#TURN         what was said\n" +
			"  manual:, manual:WHO              somebody knew it\n\n" +
			"or any other text. A node gets them by --source of 'mnem remember' or the field sources of\n" +
			"change lines. 'mnem sources diff' compares files with what they were.",
		Example: "  mnem sources\n  mnem sources alice --json\n  mnem sources --kind file",
		Args:    cobra.ArbitraryArgs,
	}
	c.atFlag(cmd)
	cmd.Flags().IntVar(&limit, "limit", defaultSources, "at most `N` rows; 0 for all")
	cmd.Flags().StringSliceVar(&kinds, "kind", nil,
		"only these `KINDS`: file, url, conversation, manual, other")
	cmd.AddCommand(c.sourcesDiff(), c.sourcesRefresh())
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		if limit < 0 {
			return usagef("--limit: %d is below 0", limit)
		}
		want, err := sourceKinds(kinds)
		if err != nil {
			return err
		}
		return c.withRepo(cmd, false, func(ctx context.Context, r *repo.Repo) error {
			return c.listSources(ctx, r, args, want, limit)
		})
	})
}

// sourceKinds reads --kind; the empty kind stands for other text.
func sourceKinds(names []string) (map[memory.SourceKind]bool, error) {
	want := make(map[memory.SourceKind]bool)
	for _, name := range names {
		switch kind := memory.SourceKind(name); kind {
		case memory.FileSource, memory.URLSource, memory.ConversationSource, memory.ManualSource:
			want[kind] = true
		case "other":
			want[""] = true
		default:
			return nil, usagef("--kind: no kind %q: want file, url, conversation, manual or other", name)
		}
	}
	return want, nil
}

var errEnough = errors.New("enough")

func (c *cli) listSources(
	ctx context.Context, r *repo.Repo, names []string, want map[memory.SourceKind]bool, limit int,
) error {
	s, err := c.snapshot(ctx, r)
	if err != nil {
		return err
	}
	var out *jsonStream
	if c.global.json {
		out = c.stream()
		out.field("commit", jsonCID(s.CID()))
		out.list("sources")
	}
	n, more := 0, false
	err = memory.Sources(ctx, s, names, func(e memory.SourceEntry) error {
		if len(want) > 0 && !want[e.Source.Kind] {
			return nil
		}
		if more = limit > 0 && n == limit; more {
			return errEnough
		}
		n++
		if out != nil {
			return out.item(jsonSource(e))
		}
		return c.printf("%s  %s\n", c.paint(styleBold, firstOf(line(e.Key), e.Node.String())),
			line(placeOf(e)))
	})
	if err != nil && !errors.Is(err, errEnough) {
		return ops.NodeHint(err)
	}
	if out != nil {
		out.endList()
		out.field("more", more)
		return out.end()
	}
	if more {
		c.remark("more follows: --limit 0 prints all")
	}
	return nil
}

// placeOf is a source for people: without its hash.
func placeOf(e memory.SourceEntry) string {
	if e.Source.Kind == "" {
		return e.Text
	}
	return e.Source.Place()
}

// rootsFlag adds the flag that says where files are.
func rootsFlag(cmd *cobra.Command, to *[]string) {
	cmd.Flags().StringArrayVar(to, "root", nil, "where files are: `DIR`, or PROJECT=DIR for those of a "+
		"project (repeatable; default: the directory that holds .mnem, and none for projects)")
}

// openRoots opens the directories of --root. Nothing outside of one can be read through it, by ".."
// or by links. shut must be called.
func (c *cli) openRoots(list []string) (files *memory.SourceChecker, shut func(), err error) {
	open := make(map[string]*os.Root)
	shut = func() {
		for _, root := range open {
			_ = root.Close() // only read
		}
	}
	add := func(project, dir string) error {
		if _, ok := open[project]; ok {
			return usagef("--root: %q is given twice", project)
		}
		if err := c.mayName(dir); err != nil {
			return err
		}
		root, err := os.OpenRoot(c.absolute(dir))
		if err == nil {
			open[project] = root
		}
		return err
	}
	for _, s := range list {
		project, dir, named := strings.Cut(s, "=")
		if !named {
			project, dir = "", s
		}
		if dir == "" {
			err = usagef("--root %q: want DIR or PROJECT=DIR", s)
		} else {
			err = add(project, dir)
		}
		if err != nil {
			shut()
			return nil, nil, err
		}
	}
	if open[""] == nil {
		dir, err := c.dir()
		if err == nil {
			err = add("", dir)
		}
		if err != nil {
			shut()
			return nil, nil, err
		}
	}
	return &memory.SourceChecker{Root: func(project string) fs.FS {
		if root := open[project]; root != nil {
			return root.FS()
		}
		return nil
	}}, shut, nil
}

// sourcesDiffFlags are the flags of sources diff.
type sourcesDiffFlags struct {
	markFlags
	roots []string
	all   bool
	stale bool
	limit int
}

func (c *cli) sourcesDiff() *cobra.Command {
	var f sourcesDiffFlags
	cmd := &cobra.Command{
		Use:   "diff [NODE…]",
		Short: "Compare what memories were made from with what is there now",
		Long: "Compare the files that memories come from with their hashes: unchanged, moved (the same\n" +
			"lines elsewhere in the file), changed, removed, unhashed (nothing to compare with), unreadable,\n" +
			"or unchecked (no file, or of a project without a --root). Memories whose source changed or is\n" +
			"removed are to be read again; --mark-stale marks them so, in one commit. Only files under a\n" +
			"--root are read, at most 16 MiB of each, and what is unchanged or unchecked is only counted\n" +
			"without --all.",
		Example: "  mnem sources diff\n  mnem sources diff --root . --root web=. --all\n" +
			"  mnem sources diff --mark-stale --dry-run",
		Args: cobra.ArbitraryArgs,
	}
	c.atFlag(cmd)
	f.add(c, cmd)
	rootsFlag(cmd, &f.roots)
	cmd.Flags().BoolVar(&f.all, "all", false, "print what is unchanged or unchecked, too")
	cmd.Flags().BoolVar(&f.stale, "mark-stale", false, "mark memories stale whose source is not as it was")
	cmd.Flags().IntVar(&f.limit, "limit", defaultSources, "print at most `N` rows; 0 for all")
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		if f.limit < 0 {
			return usagef("--limit: %d is below 0", f.limit)
		}
		if f.stale && cmd.Flags().Changed("at") {
			return usagef("--mark-stale marks what the branch has: leave out --at")
		}
		if f.stale && f.reason != "" {
			return usagef("--reason: the source is the reason of these marks")
		}
		return c.runSourcesDiff(cmd, args, &f)
	})
}

// sourceStates are the states in the order in which they are counted.
var sourceStates = []memory.SourceState{
	memory.SourceUnchanged, memory.SourceMoved, memory.SourceChanged, memory.SourceRemoved,
	memory.SourceUnhashed, memory.SourceUnreadable, memory.SourceUnchecked,
}

func (c *cli) runSourcesDiff(cmd *cobra.Command, names []string, f *sourcesDiffFlags) error {
	files, shut, err := c.openRoots(f.roots)
	if err != nil {
		return err
	}
	defer shut()
	if !f.stale {
		return c.withRepo(cmd, false, func(ctx context.Context, r *repo.Repo) error {
			_, err := c.diffSources(ctx, r, names, files, f, nil)
			return err
		})
	}
	by, err := c.commitStamp(cmd, f.dryRun)
	if err != nil {
		return err
	}
	opt := repo.CommitOptions{Stamp: by, Message: f.message, Branch: c.branch()}
	if opt.Expect, err = ops.ParseExpect(f.expect); err != nil {
		return err
	}
	return c.writeOrTry(cmd, f.dryRun, func(ctx context.Context, _, to *repo.Repo) error {
		_, err := c.diffSources(ctx, to, names, files, f, &opt)
		return err
	})
}

// diffSources prints what became of sources, and marks the memories of those that are gone if opt
// is given.
func (c *cli) diffSources(
	ctx context.Context, r *repo.Repo, names []string, files *memory.SourceChecker,
	f *sourcesDiffFlags, opt *repo.CommitOptions,
) (gone []memory.SourceCheck, err error) {
	s, err := c.snapshotOf(ctx, r, opt)
	if err != nil {
		return nil, err
	}
	counts := make(map[memory.SourceState]int)
	var out *jsonStream
	if c.global.json {
		out = c.stream()
		out.field("commit", jsonCID(s.CID()))
		out.list("sources")
	}
	p, n, seen := c.progress(), 0, 0
	err = memory.Sources(ctx, s, names, func(e memory.SourceEntry) error {
		p.set("sources checked:", seen, 0)
		seen++
		check := files.Check(e)
		counts[check.State]++
		if check.Gone() {
			kept := check
			kept.Span = "" // of many, they would be much
			gone = append(gone, kept)
		}
		plain := check.State == memory.SourceUnchanged || check.State == memory.SourceUnchecked
		if plain && !f.all || f.limit > 0 && n >= f.limit {
			return nil
		}
		n++
		if out != nil {
			return out.item(jsonSourceCheck(&check))
		}
		return c.sourceCheckText(&check, false)
	})
	p.done()
	if err != nil {
		return nil, ops.NodeHint(err)
	}
	if out != nil {
		out.endList()
		out.field("counts", sourceCounts(counts))
	} else if err := c.printf("%s\n", sourceSummary(counts)); err != nil {
		return nil, err
	}
	if opt == nil {
		if out != nil {
			err = out.end()
		}
		return gone, err
	}
	res, err := memory.New(r).MarkGone(ctx, *opt, gone)
	switch {
	case err != nil:
		return nil, err
	case out != nil:
		out.field("marked", idTexts(res.Marked))
		out.field("already", idTexts(res.Already))
		at := jsonCID(res.Commit)
		if f.dryRun && !res.NoChange {
			at = nil
		}
		out.field("marked_by", at)
		out.field("dry_run", f.dryRun)
		return gone, out.end()
	}
	return gone, c.printMarking(ctx, r, res, "stale", f.dryRun)
}

// snapshotOf returns what a command reads: the branch that it writes to, if it does.
func (c *cli) snapshotOf(
	ctx context.Context, r *repo.Repo, opt *repo.CommitOptions,
) (*repo.Snapshot, error) {
	if opt == nil || opt.Branch == "" {
		return c.snapshot(ctx, r)
	}
	return r.Snapshot(ctx, "refs/heads/"+opt.Branch)
}

func sourceCounts(counts map[memory.SourceState]int) map[memory.SourceState]int {
	out := make(map[memory.SourceState]int) // encoding/json writes names in order
	for _, state := range sourceStates {
		out[state] = counts[state]
	}
	return out
}

func sourceSummary(counts map[memory.SourceState]int) string {
	var parts []string
	for _, state := range sourceStates {
		if n := counts[state]; n > 0 {
			parts = append(parts, plural(n, string(state)+" source"))
		}
	}
	if len(parts) == 0 {
		return "no sources"
	}
	return strings.Join(parts, ", ")
}

// sourceCheckText prints what became of a source, with what is there now if span.
func (c *cli) sourceCheckText(s *memory.SourceCheck, span bool) error {
	style := styleRed
	if !s.Gone() {
		style = ""
	}
	text := placeOf(s.SourceEntry)
	if s.State == memory.SourceMoved {
		text += " -> " + s.Now.Place()
	}
	if s.Why != "" {
		text += " (" + s.Why + ")"
	}
	err := c.printf("%s  %s  %s\n", c.paint(style, string(s.State)),
		c.paint(styleBold, firstOf(line(s.Key), s.Node.String())), line(text))
	if err != nil || !span || s.Span == "" {
		return err
	}
	for l := range strings.SplitSeq(strings.TrimRight(s.Span, "\n"), "\n") {
		if err := c.printf("  | %s\n", line(l)); err != nil {
			return err
		}
	}
	return nil
}

func (c *cli) sourcesRefresh() *cobra.Command {
	var f markFlags
	var roots []string
	cmd := &cobra.Command{
		Use:   "refresh NODE",
		Short: "Take what is there now for the source of a memory",
		Long: "Give the file sources of a node the hashes that they have now, and lines that moved their new\n" +
			"numbers, in one commit, and print what is there: whoever does this has read whether the memory\n" +
			"still holds. The mark that 'mnem sources diff --mark-stale' made is taken off. A source that is\n" +
			"removed stays as it is, and so does the mark.",
		Example: "  mnem sources refresh alice\n  mnem sources refresh alice --root .. --dry-run",
		Args:    cobra.ExactArgs(1),
	}
	f.add(c, cmd)
	rootsFlag(cmd, &roots)
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		if f.reason != "" {
			return usagef("--reason: nothing is marked here")
		}
		return c.runSourcesRefresh(cmd, args[0], roots, &f)
	})
}

func (c *cli) runSourcesRefresh(
	cmd *cobra.Command, name string, roots []string, f *markFlags,
) error {
	files, shut, err := c.openRoots(roots)
	if err != nil {
		return err
	}
	defer shut()
	by, err := c.commitStamp(cmd, f.dryRun)
	if err != nil {
		return err
	}
	opt := repo.CommitOptions{Stamp: by, Message: f.message, Branch: c.branch()}
	if opt.Expect, err = ops.ParseExpect(f.expect); err != nil {
		return err
	}
	return c.writeOrTry(cmd, f.dryRun, func(ctx context.Context, _, to *repo.Repo) error {
		checks, res, err := memory.New(to).Refresh(ctx, opt, name, files)
		if err != nil {
			return ops.NodeHint(err)
		}
		if c.global.json {
			return c.refreshJSON(checks, res, f.dryRun)
		}
		for i := range checks {
			if err := c.sourceCheckText(&checks[i], true); err != nil {
				return err
			}
		}
		out, err := ops.CommittedOf(ctx, to, res, f.dryRun, !c.global.json)
		switch {
		case err != nil:
			return err
		case c.global.json:
			return c.printJSON(out)
		}
		return c.printCommit(out)
	})
}

func (c *cli) refreshJSON(
	checks []memory.SourceCheck, res *repo.CommitResult, dryRun bool,
) error {
	out := c.stream()
	at := jsonCID(res.Commit)
	if dryRun && !res.NoChange {
		at = nil
	}
	out.field("commit", at)
	out.field("branch", res.Branch)
	out.field("graph", jsonCID(res.Graph))
	out.list("sources")
	for i := range checks {
		if err := out.item(jsonSourceCheck(&checks[i])); err != nil {
			return err
		}
	}
	out.endList()
	out.field("no_change", res.NoChange)
	out.field("dry_run", dryRun)
	return out.end()
}

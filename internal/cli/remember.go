package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/memory"
	"github.com/mnem-project/mnem/model/embed"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/repo"
)

// rememberFlags are the flags of remember.
type rememberFlags struct {
	commitFlags
	req                         memory.RememberRequest
	files                       []string
	batch, embed, vector        string
	expires, validFrom, validTo string
	noLinks, set                []string
	explain                     bool
}

const rememberDoc = "" +
	"Keep a text as a memory: one thing that is so, in words that stand alone. \"-\" reads it from\n" +
	"standard input, --file from a file, each of several a memory. All is written in one commit.\n\n" +
	"Nothing is lost by it. A text that says what a memory says already is noted on that memory, once\n" +
	"for each wording and source: the same words from the same source are no news, and a call that is\n" +
	"made again writes nothing. A text that differs in a number, a\n" +
	"name, a date, a negation or the order of who does what is a memory of its own, however much\n" +
	"alike both are, and what resembles it is printed with what differs. Something is replaced\n" +
	"only by --supersedes, or by --about with --property, which is a property that has one value:\n" +
	"the old memory is marked and stays as it is. A text that was forgotten or superseded becomes\n" +
	"a new memory.\n\n" +
	"  added       a new memory\n" +
	"  duplicate   it was there: another wording or source is noted on it\n" +
	"  updated     likewise, and tags, entities or importance were added to\n" +
	"  superseded  it took the place of others\n" +
	"  conflict    a new memory that says the contrary of one that is there: both stay\n\n" +
	"Edges to tags, entities, causes and what was remembered before are written by rule; --no-link\n" +
	"leaves a rule out, --explain says what each edge is for.\n\n" +
	"--batch reads one JSON object a line, with the members text, type, importance, tags,\n" +
	"entities, source, about, property, expires, validFrom, validTo, supersedes, noDiff and vector\n" +
	"({\"model\", \"values\"}); flags are what a line leaves open. All lines become one commit,\n" +
	"10,000 at most, or none.\n\n" +
	"--set changes, in a commit of its own, from which likeness on a memory is told of, above\n" +
	"which one without a difference is a duplicate, and with keep=true whether a second value of a\n" +
	"property leaves the first one as it is, which is a conflict then. With replace=true a memory\n" +
	"supersedes the one that it resembles where only numbers, units or dates differ, and where\n" +
	"that is one alone."

func (c *cli) rememberCommand() *cobra.Command {
	f := &rememberFlags{}
	cmd := &cobra.Command{
		Use:     "remember TEXT|-",
		GroupID: groupChange,
		Short:   "Keep a text as a memory, without losing another",
		Long:    rememberDoc,
		Example: "  mnem remember 'Server alpha runs PostgreSQL 16' --tag infra --source manual:ana\n" +
			"  mnem remember 'Alice works at Globex' --about alice --property employer\n" +
			"  mnem remember --batch notes.jsonl --dry-run --json",
		Args: cobra.MaximumNArgs(1),
	}
	f.add(c, cmd)
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		return c.runRemember(cmd, args, f)
	})
}

func (f *rememberFlags) add(c *cli, cmd *cobra.Command) {
	c.writeFlags(cmd)
	c.branchFlag(cmd)
	c.signFlags(cmd)
	c.strictFlag(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.req.Type, "type", "", "`TYPE`: fact, decision, preference, insight, context, event, "+
		"task or any other (default fact)")
	fl.IntVar(&f.req.Importance, "importance", 0, "`N` from 1 to 5 (default 3)")
	fl.StringArrayVar(&f.req.Tags, "tag", nil, "`TAG` (repeatable, at most 20)")
	fl.StringArrayVar(&f.req.Cues, "cue", nil, "`WORDS` under which somebody may look for it, and which "+
		"it does not have (repeatable, at most 12)")
	fl.StringArrayVar(&f.req.Entities, "entity", nil, "`NAME` that it is about (repeatable, at most 50)")
	fl.StringArrayVar(&f.req.Sources, "source", nil, "where it comes from: file:PATH, url:URL, "+
		"conversation:ID, manual:WHO or any other `TEXT` (repeatable)")
	fl.StringVar(&f.req.About, "about", "", "`KEY` or id of the subject, or the name of an entity; "+
		"where there is none a node of the key is made")
	fl.StringVar(&f.req.Property, "property", "", "`NAME` of the subject's property that it says, which "+
		"has one value: an old one is superseded")
	fl.StringArrayVar(&f.req.Supersedes, "supersedes", nil, "`NODE` that it takes the place of "+
		"(repeatable)")
	fl.StringVar(&f.expires, "expires", "", "`TIME` from which it may be marked expired")
	fl.StringVar(&f.validFrom, "valid-from", "", "`TIME` from which it holds")
	fl.StringVar(&f.validTo, "valid-to", "", "`TIME` until which it holds")
	fl.BoolVar(&f.req.NoDiff, "no-diff", false, "add it whatever resembles it, and look for nothing")
	fl.StringArrayVar(&f.files, "file", nil, "`FILE` whose text is a memory (repeatable)")
	fl.StringVar(&f.batch, "batch", "", "`FILE` of memories, one JSON object a line; - for standard input")
	fl.StringVar(&f.vector, "vector", "", "`MODEL=@FILE`: the text as a model sees it, a JSON list of "+
		"numbers")
	fl.StringVar(&f.embed, "embed", "", "embed the text too, by `SPEC` (alone: MNEM_EMBED_MODEL; config: "+
		keyEmbedModel+")")
	fl.Lookup("embed").NoOptDefVal = modelConfigured
	fl.StringArrayVar(&f.noLinks, "no-link", nil, "`RULE` that writes no edges: temporal, entity, "+
		"keyword, causal or semantic (repeatable)")
	fl.StringArrayVar(&f.set, "set", nil, "change how decisions are made, `NAME=VALUE`, instead of "+
		"remembering: duplicateAbove (0.90), similarFrom (0.65), keep and replace (false) "+
		"(repeatable)")
	fl.BoolVar(&f.explain, "explain", false, "print what each edge is for")
	fl.StringVarP(&f.message, "message", "m", "", "what the commit is about; default: what was done")
	fl.StringVar(&f.expect, "expect", "", "the `CID` of the commit that the branch must be at, or "+
		"\"none\" for a branch without one; else exit code 5")
	fl.BoolVar(&f.dryRun, "dry-run", false, "print what would happen and write nothing")
	cmd.MarkFlagsMutuallyExclusive("vector", "embed")
	cmd.MarkFlagsMutuallyExclusive("batch", "file")
	cmd.MarkFlagsMutuallyExclusive("batch", "vector")
}

func (c *cli) runRemember(cmd *cobra.Command, args []string, f *rememberFlags) error {
	if f.set != nil {
		return c.setRemember(cmd, args, f)
	}
	if given := len(args) > 0; given == (len(f.files) > 0 || f.batch != "") {
		return usagef("want a TEXT, - for standard input, --file or --batch, and one of them alone")
	}
	if cmd.Flags().Changed("importance") && f.req.Importance == 0 {
		return usagef("--importance: 0, want 1 to 5")
	}
	if f.vector != "" && len(f.files) > 1 {
		return usagef("--vector: of which FILE?")
	}
	if err := f.times(); err != nil {
		return err
	}
	by, err := c.commitStamp(cmd, f.dryRun)
	if err != nil {
		return err
	}
	opt := memory.RememberOptions{CommitOptions: repo.CommitOptions{
		Stamp: by, Message: f.message, Branch: c.branch(),
	}}
	for _, rule := range f.noLinks {
		opt.Links.Off = append(opt.Links.Off, memory.Rule(rule))
	}
	if opt.Expect, err = ops.ParseExpect(f.expect); err != nil {
		return err
	}
	reqs, err := c.memories(cmd.Context(), args, f)
	if err == nil {
		err = c.embedMemories(cmd.Context(), reqs, f)
	}
	if err != nil {
		return err
	}
	return c.writeOrTry(cmd, f.dryRun, func(ctx context.Context, _, to *repo.Repo) error {
		p := c.progress()
		res, err := memory.New(to).RememberAll(ctx, opt, reqs)
		p.done()
		if err != nil {
			return rememberHint(err)
		}
		return c.printRemembered(res, reqs, f)
	})
}

// setRemember changes how decisions are made.
func (c *cli) setRemember(cmd *cobra.Command, args []string, f *rememberFlags) error {
	if len(args)+len(f.files) > 0 || f.batch != "" {
		return usagef("--set changes how decisions are made: remember in a command of its own")
	}
	by, err := c.commitStamp(cmd, f.dryRun)
	if err != nil {
		return err
	}
	opt := repo.CommitOptions{Stamp: by, Branch: c.branch(),
		Message: firstOf(f.message, "change how memories are remembered")}
	if opt.Expect, err = ops.ParseExpect(f.expect); err != nil {
		return err
	}
	set := func(p *memory.RememberParams) error {
		for _, s := range f.set {
			if err := setRememberParam(p, s); err != nil {
				return err
			}
		}
		return nil
	}
	return c.writeOrTry(cmd, f.dryRun, func(ctx context.Context, _, to *repo.Repo) error {
		p, res, err := memory.New(to).ChangeRememberParams(ctx, opt, set)
		if err != nil {
			return err
		}
		if c.global.json {
			return c.printJSON(rememberParamsJSON{p.DuplicateAbove, p.SimilarFrom, p.Keep,
				p.Replace, jsonCID(res.Commit), res.NoChange, f.dryRun})
		}
		return c.printf("duplicateAbove %s, similarFrom %s, keep %t, replace %t\n", share(p.DuplicateAbove),
			share(p.SimilarFrom), p.Keep, p.Replace)
	})
}

// rememberParamsJSON is how decisions are made; shares are in units of 2^-16.
type rememberParamsJSON struct {
	DuplicateAbove int64   `json:"duplicate_above"`
	SimilarFrom    int64   `json:"similar_from"`
	Keep           bool    `json:"keep"`
	Replace        bool    `json:"replace"`
	Commit         *string `json:"commit"`
	NoChange       bool    `json:"no_change"`
	DryRun         bool    `json:"dry_run"`
}

func setRememberParam(p *memory.RememberParams, set string) error {
	name, value, _ := strings.Cut(set, "=")
	units := func(to *int64) error {
		x, err := strconv.ParseFloat(value, 64)
		if err != nil || !(x > 0 && x <= 1) {
			return usagef("--set %s: want a number above 0 and at most 1", set)
		}
		*to = int64(math.RoundToEven(float64(x * (1 << 16))))
		return nil
	}
	flag := func(to *bool) error {
		b, err := strconv.ParseBool(value)
		if err != nil {
			return usagef("--set %s: want true or false", set)
		}
		*to = b
		return nil
	}
	switch name {
	case "duplicateAbove":
		return units(&p.DuplicateAbove)
	case "similarFrom":
		return units(&p.SimilarFrom)
	case "keep":
		return flag(&p.Keep)
	case "replace":
		return flag(&p.Replace)
	}
	return usagef("--set %s: there are duplicateAbove, similarFrom, keep and replace", set)
}

// rememberHint says what to do about a request that was refused.
func rememberHint(err error) error {
	var bad *memory.RequestError
	var missing *repo.NotFoundError
	switch {
	case errors.As(err, &bad) && bad.Param == "text":
		return err
	case errors.As(err, &missing) && missing.What != "node":
		return err // a branch
	}
	return ops.MarkHint(err)
}

// times reads the flags that are times.
func (f *rememberFlags) times() error {
	for _, t := range []struct {
		flag, value string
		to          *graph.OptTime
	}{
		{"--expires", f.expires, &f.req.Expires}, {"--valid-from", f.validFrom, &f.req.ValidFrom},
		{"--valid-to", f.validTo, &f.req.ValidTo},
	} {
		if t.value == "" {
			continue
		}
		at, err := graph.ParseTime(t.value)
		if err != nil {
			return usagef("%s: %w", t.flag, err)
		}
		*t.to = graph.At(at)
	}
	return nil
}

// memories returns what is to be remembered.
func (c *cli) memories(
	ctx context.Context, args []string, f *rememberFlags,
) ([]memory.RememberRequest, error) {
	if f.batch != "" {
		return c.memoryLines(ctx, f)
	}
	req := f.req
	if f.vector != "" {
		e, err := c.memoryVector(ctx, f.vector)
		if err != nil {
			return nil, err
		}
		req.Vector = e
	}
	if len(args) == 1 && args[0] != stdinName {
		req.Text = args[0]
		return []memory.RememberRequest{req}, nil
	}
	files := f.files
	if len(args) == 1 {
		files = args
	}
	var out []memory.RememberRequest
	for _, name := range files {
		text, err := c.memoryText(ctx, name)
		if err != nil {
			return nil, err
		}
		req.Text = text
		out = append(out, req)
	}
	return out, nil
}

// memoryText reads a text, of which more than a memory may have is refused later.
func (c *cli) memoryText(ctx context.Context, path string) (string, error) {
	in, name, err := c.open(ctx, path)
	if err != nil {
		return "", err
	}
	defer func() { _ = in.Close() }() // only read from
	data, err := io.ReadAll(io.LimitReader(in, graph.MaxText+1))
	if err == nil && len(data) > graph.MaxText {
		err = hint(fmt.Errorf("%w: %s: more than %d characters", repo.ErrInvalid, name, memory.MaxText),
			"split it into memories that stand alone")
	}
	if err == nil && bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
		data = data[3:]
	}
	return string(data), err
}

// memoryLines reads the lines of --batch.
func (c *cli) memoryLines(
	ctx context.Context, f *rememberFlags,
) ([]memory.RememberRequest, error) {
	in, file, err := c.open(ctx, f.batch)
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }() // only read from
	lines := bufio.NewReaderSize(in, 64<<10)
	var out []memory.RememberRequest
	for n := 1; ; n++ {
		text, err := readLine(lines)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err == nil && len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		var req memory.RememberRequest
		if err == nil {
			req, err = parseMemory(text, f.req)
		}
		if err == nil && len(out) == memory.MaxBatch {
			err = fmt.Errorf("%w: more than %d memories: remember them in several batches",
				repo.ErrInvalid, memory.MaxBatch)
		}
		if err != nil {
			return nil, &graph.LineError{File: file, Line: n, Err: err}
		}
		out = append(out, req)
	}
}

func parseMemory(text []byte, base memory.RememberRequest) (memory.RememberRequest, error) {
	v, err := ipld.ParseJSON(text)
	if err != nil {
		return base, err
	}
	req, err := memory.ParseRememberJSON(v, base)
	if err == nil {
		err = req.Validate()
	}
	return req, err
}

// memoryVector reads the value of --vector.
func (c *cli) memoryVector(ctx context.Context, value string) (*graph.EmbeddingChange, error) {
	files, err := parseVectorFlags("--vector", []string{value})
	if err != nil {
		return nil, err
	}
	list, name, err := c.queryJSON(ctx, files[0])
	if err != nil {
		return nil, err
	}
	v := ipld.MapValue(ipld.Entry{Key: "model", Value: ipld.StringValue(files[0].model)},
		ipld.Entry{Key: "values", Value: list})
	req, err := memory.ParseRememberJSON(ipld.MapValue(
		ipld.Entry{Key: "text", Value: ipld.StringValue("")}, ipld.Entry{Key: "vector", Value: v},
	), memory.RememberRequest{})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return req.Vector, nil
}

// embedMemories adds the vectors that --embed asks for. A model that fails fails the command, before
// anything was written.
func (c *cli) embedMemories(
	ctx context.Context, reqs []memory.RememberRequest, f *rememberFlags,
) error {
	if f.embed == "" || len(reqs) == 0 {
		return nil
	}
	e, err := c.embedder(embedSpec(f.embed), "--embed", embed.Options{})
	if err != nil {
		return err
	}
	texts := make([]string, len(reqs))
	for i := range reqs {
		texts[i] = graph.EmbedText(&graph.Node{Summary: reqs[i].Text}, "")
	}
	vectors, err := e.Embed(ctx, texts, embed.Document)
	if err != nil {
		return err
	}
	for i, v := range vectors {
		if v == nil || reqs[i].Vector != nil {
			continue
		}
		change := &graph.EmbeddingChange{Model: e.Model()}
		for _, n := range v {
			change.Vector = append(change.Vector, float64(n))
		}
		reqs[i].Vector = change
	}
	return nil
}

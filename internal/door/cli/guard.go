package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/reach"
	"github.com/mnem-project/mnem/internal/door/show"
	"github.com/mnem-project/mnem/internal/guard"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
)

// guardRuleJSON is a rule by which credentials are found.
type guardRuleJSON struct {
	Rule    string `json:"rule"`
	Refuses bool   `json:"refuses"` // what it finds; else it is reported
	About   string `json:"about"`
}

// guardFindingJSON reports a possible credential in a file.
type guardFindingJSON struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"` // in bytes, from 1
	Start   int    `json:"start"`  // in bytes of the file, as is end
	End     int    `json:"end"`
	Rule    string `json:"rule"`
	Refuses bool   `json:"refuses"`
}

type guardCheckRequest struct {
	Files []string `op:",arg"`
}

func guardCommands() []*line.Bound {
	return []*line.Bound{
		reach.LocalLines(verb.Spec{
			Command: "guard check", Right: verb.NoRight,
			Usage: "FILE…|-", Title: "Scan files for credentials without storing anything",
			Doc: "Search files of any text for what looks like credentials, \"-\" being standard input. Each is a\n" +
				"line: the file, line and column, the rule, and whether it would be refused. The credential\n" +
				"itself is not printed. The exit code is 7 where one would be refused. It needs no repository.\n\n" +
				"With --json, one object a line.",
			Example: "  echo 'the password: Xk39-dq2' | mnem guard check -", Answers: []any{guardFindingJSON{}},
		}, guardCheck),
		reach.LocalLines(verb.Spec{
			Command: "guard rules", Right: verb.NoRight, Title: "List the rules that find credentials",
			Doc: "List the rules: their names, as --allow-secret takes them, whether what they find is refused or\n" +
				"reported, and what it is. Most are those of gitleaks, under the MIT licence.\n\n" +
				"With --json, one object a line.",
			Example: "  mnem guard rules\n  mnem guard rules --json", Answers: []any{guardRuleJSON{}},
		}, guardRules),
	}
}

func guardCheck(ctx context.Context, c *line.Line, q *guardCheckRequest) error {
	refused := 0
	for _, arg := range q.Files {
		n, err := guardFile(ctx, c, arg)
		if err != nil {
			return err
		}
		refused += n
	}
	if refused > 0 {
		return line.Hint(fmt.Errorf("%w: %s", state.ErrSecret, line.Plural(refused, "finding")),
			"take them out before the text is remembered")
	}
	return nil
}

// guardFile prints what is found in a file and returns how much of it would be refused.
func guardFile(ctx context.Context, c *line.Line, arg string) (refused int, err error) {
	in, name, err := c.Open(ctx, arg)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	data, err := io.ReadAll(io.LimitReader(in, graph.MaxContent+1))
	if err != nil {
		return 0, fmt.Errorf("read %s: %w", name, err)
	}
	if len(data) > graph.MaxContent {
		return 0, line.Hint(fmt.Errorf("%w: %s: more than %d bytes", state.ErrInvalid, name, graph.MaxContent),
			"check it in parts")
	}
	text := string(data)
	at, lineNo, begin := 0, 1, 0
	for _, f := range guard.Find(text) {
		lineNo += strings.Count(text[at:f.Start], "\n")
		if i := strings.LastIndexByte(text[at:f.Start], '\n'); i >= 0 {
			begin = at + i + 1
		}
		at = f.Start
		out := guardFindingJSON{
			File: name, Line: lineNo, Column: f.Start - begin + 1, Start: f.Start, End: f.End,
			Rule: f.Rule, Refuses: f.Level == guard.Refuses,
		}
		if out.Refuses {
			refused++
		}
		if err := show.Answer(&c.Console, out, func(_ *show.Console, f guardFindingJSON) error { return printFinding(c, f) }); err != nil {
			return 0, err
		}
	}
	return refused, nil
}

func printFinding(c *line.Line, f guardFindingJSON) error {
	what := "reported"
	if f.Refuses {
		what = c.Paint(show.Red, "refused")
	}
	return c.Printf("%s:%d:%d  %s  %s\n", line.OneLine(f.File), f.Line, f.Column, what, f.Rule)
}

func guardRules(_ context.Context, c *line.Line, _ *struct{}) error {
	var rules []guardRuleJSON
	for _, r := range guard.Rules() {
		rules = append(rules, guardRuleJSON{r.ID, r.Level == guard.Refuses, r.About})
	}
	return show.PrintList(&c.Console, rules, func(r guardRuleJSON) []show.Cell {
		does := map[bool]string{true: "refused", false: "reported"}[r.Refuses]
		return show.Row(r.Rule, show.Cyan, does, "", line.OneLine(r.About), show.Dim)
	})
}

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

type guardRuleJSON struct {
	Rule    string `json:"rule"`
	Refuses bool   `json:"refuses"` // what it finds; else it is reported
	About   string `json:"about"`
}

type guardFindingJSON struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"` // in bytes, from 1
	Start   int    `json:"start"`  // in bytes of the file, as is end
	End     int    `json:"end"`
	Rule    string `json:"rule"`
	Refuses bool   `json:"refuses"`
}

type secretsRequest struct {
	Files []string `op:",arg"`
}

func secretsCommand() *line.Bound {
	return reach.LocalLines(verb.Spec{
		Command: "config secrets", Right: verb.NoRight,
		Usage: "[FILE…|-]", Title: "List the rules that find credentials, or scan files by them",
		Doc: "Everything that is written is searched for credentials first: whichever command writes it, and\n" +
			"for every caller of a server. What has the prefix of a provider's keys, a checksum, or the form\n" +
			"of a private key is refused, exit code 7, with its line and rule; --allow-secret RULE writes it\n" +
			"all the same. What may be a password, or is irregular and called a key, is reported. In commits\n" +
			"of more than 1000 changes everything is only reported, but with --strict; and merges and imports\n" +
			"keep their bytes, and report.\n\n" +
			"Without FILE, list the rules: their names, as --allow-secret takes them, whether what they find is\n" +
			"refused or reported, and what it is. Most are those of gitleaks, under the MIT licence.\n\n" +
			"With FILEs, search these for credentials and store nothing; \"-\" is standard input. Each finding is a\n" +
			"line: the file, line and column, the rule, and whether it would be refused. The credential itself is\n" +
			"not printed. The exit code is 7 if one would be refused. No repository is needed.\n\n" +
			"With --json, one object a line.",
		Example: "  mnem config secrets\n  echo 'the password: Xk39-dq2' | mnem config secrets -",
		Answers: []any{guardRuleJSON{}, guardFindingJSON{}},
	}, secrets)
}

func secrets(ctx context.Context, c *line.Line, q *secretsRequest) error {
	if len(q.Files) == 0 {
		return guardRules(c)
	}
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
		if err := show.Answer(&c.Console, out, printFinding); err != nil {
			return 0, err
		}
	}
	return refused, nil
}

func printFinding(c *show.Console, f guardFindingJSON) error {
	what := "reported"
	if f.Refuses {
		what = c.Paint(show.Red, "refused")
	}
	return c.Printf("%s:%d:%d  %s  %s\n", line.OneLine(f.File), f.Line, f.Column, what, f.Rule)
}

func guardRules(c *line.Line) error {
	var rules []guardRuleJSON
	for _, r := range guard.Rules() {
		rules = append(rules, guardRuleJSON{r.ID, r.Level == guard.Refuses, r.About})
	}
	return show.PrintList(&c.Console, rules, func(r guardRuleJSON) []show.Cell {
		does := map[bool]string{true: "refused", false: "reported"}[r.Refuses]
		return show.Row(r.Rule, show.Cyan, does, "", line.OneLine(r.About), show.Dim)
	})
}

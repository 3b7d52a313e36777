package cli

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/memory"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/repo"
)

// halfLifeFlags are the flags of half-life.
type halfLifeFlags struct {
	commitFlags
	reset bool
}

func (c *cli) halfLifeCommand() *cobra.Command {
	f := &halfLifeFlags{}
	cmd := &cobra.Command{
		Use:     "half-life [TYPE=DAYS…]",
		GroupID: groupChange,
		Short:   "Show or change after how many days memories count half",
		Long: "List after how many days a memory of each type counts half in its effective importance, which\n" +
			"'mnem get NODE --importance' shows, and which decides what 'mnem consolidate' proposes. A type\n" +
			"that is not listed has what * has, which cannot be changed: give it one of its own.\n\n" +
			"With TYPE=DAYS, 1 to 36500, change those of these types in one commit; TYPE=default goes back to\n" +
			"the built-in one. They are part of the memory: they merge, revert and branch as it does.",
		Example: "  mnem half-life\n  mnem half-life task=7 note=90\n  mnem half-life task=default\n" +
			"  mnem half-life --reset --dry-run",
	}
	c.atFlag(cmd)
	c.writeFlags(cmd)
	c.branchFlag(cmd)
	c.signFlags(cmd)
	fl := cmd.Flags()
	fl.BoolVar(&f.reset, "reset", false, "go back to the built-in half-lives of all types")
	fl.StringVarP(&f.message, "message", "m", "", "what the commit is about; default: what was done")
	fl.StringVar(&f.expect, "expect", "", "the `CID` of the commit that the branch must be at, or "+
		"\"none\" for a branch without one; else exit code 5")
	fl.BoolVar(&f.dryRun, "dry-run", false, "print what would be and write nothing")
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		return c.runHalfLife(cmd, args, f)
	})
}

func (c *cli) runHalfLife(cmd *cobra.Command, args []string, f *halfLifeFlags) error {
	change, err := parseHalfLives(args)
	given := cmd.Flags().Changed
	writes := f.reset || len(args) > 0
	switch {
	case err != nil:
		return err
	case f.reset && len(args) > 0:
		return usagef("--reset takes all half-lives back: give TYPE=DAYS in a command of its own")
	case writes && given("at"):
		return usagef("--at is for looking: what is written goes onto the branch")
	}
	if !writes {
		for _, name := range []string{
			"dry-run", "message", "expect", "branch", "author", "agent", "task", "time", "sign", "no-sign",
			"key",
		} {
			if given(name) {
				return usagef("--%s needs TYPE=DAYS or --reset: without them half-lives are listed", name)
			}
		}
		return c.withRepo(cmd, false, func(ctx context.Context, r *repo.Repo) error {
			s, err := c.snapshot(ctx, r)
			if err != nil {
				return err
			}
			own, err := memory.OwnHalfLivesAt(ctx, s)
			if err != nil {
				return err
			}
			return c.printHalfLives(own, &repo.CommitResult{Commit: s.CID(), NoChange: true}, f)
		})
	}
	by, err := c.commitStamp(cmd, f.dryRun)
	if err != nil {
		return err
	}
	opt := repo.CommitOptions{Stamp: by, Branch: c.branch(),
		Message: firstOf(f.message, "change half-lives")}
	if opt.Expect, err = ops.ParseExpect(f.expect); err != nil {
		return err
	}
	return c.writeOrTry(cmd, f.dryRun, func(ctx context.Context, _, to *repo.Repo) error {
		m := memory.New(to)
		if f.reset {
			res, err := m.SetHalfLives(ctx, opt, nil)
			if err != nil {
				return err
			}
			return c.printHalfLives(nil, res, f)
		}
		own, res, err := m.ChangeHalfLives(ctx, opt, func(own memory.HalfLives) error {
			for typ, days := range change {
				if own[typ] = days; days == 0 {
					delete(own, typ)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		return c.printHalfLives(own, res, f)
	})
}

// parseHalfLives reads TYPE=DAYS and TYPE=default, which is 0.
func parseHalfLives(args []string) (map[string]int, error) {
	out := make(map[string]int)
	for _, arg := range args {
		cut := strings.LastIndexByte(arg, '=')
		if cut < 1 {
			return nil, usagef("%q is not of the form TYPE=DAYS", arg)
		}
		typ, value := arg[:cut], arg[cut+1:]
		if typ == "*" && value != "default" { // as the list calls all others: it would be a type of its own
			return nil, usagef("* stands for all other types, which have %d days: name the type",
				memory.DefaultHalfLife)
		}
		if _, again := out[typ]; again {
			return nil, usagef("the half-life of %q is given twice", typ)
		}
		if out[typ] = 0; value == "default" {
			continue
		}
		days, err := strconv.Atoi(value)
		if err != nil || days < 1 || days > memory.MaxHalfLife {
			return nil, usagef("%q: want 1 to %d days, or default", arg, memory.MaxHalfLife)
		}
		out[typ] = days
	}
	return out, nil
}

// halfLivesJSON is after how many days memories count half.
type halfLivesJSON struct {
	HalfLives map[string]int `json:"half_lives"` // days by type
	Other     int            `json:"other"`      // of any other type
	Own       []string       `json:"own"`        // types that the memory gives one itself
	Commit    *string        `json:"commit"`
	NoChange  bool           `json:"no_change"`
	DryRun    bool           `json:"dry_run"`
}

func (c *cli) printHalfLives(
	own memory.HalfLives, res *repo.CommitResult, f *halfLifeFlags,
) error {
	all := own.All()
	if c.global.json {
		out := halfLivesJSON{
			HalfLives: all, Other: memory.DefaultHalfLife, Own: append([]string{}, sortedKeys(own)...),
			Commit: jsonCID(res.Commit), NoChange: res.NoChange, DryRun: f.dryRun,
		}
		if f.dryRun && !res.NoChange {
			out.Commit = nil // its time would be another
		}
		return c.printJSON(out)
	}
	var rows [][]cell
	for _, typ := range sortedKeys(all) {
		from := "built in"
		if _, ok := own[typ]; ok {
			from = "own"
		}
		rows = append(rows, []cell{{line(typ), styleBold}, {plural(all[typ], "day"), ""}, {from, styleDim}})
	}
	rows = append(rows,
		[]cell{{"*", styleBold}, {plural(memory.DefaultHalfLife, "day"), ""}, {"built in", styleDim}})
	if err := c.table(rows); err != nil || res.Branch == "" {
		return err // nothing was asked to be written
	}
	switch {
	case res.NoChange:
		return c.printf("nothing to commit\n")
	case f.dryRun:
		return c.printf("would commit half-lives\n")
	}
	return c.printf("[%s %s] half-lives\n", c.paint(styleCyan, line(res.Branch)),
		c.paint(styleYellow, shortCID(res.Commit)))
}

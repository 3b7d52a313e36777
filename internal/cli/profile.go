package cli

import (
	"context"
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/retrieve"
)

// profileJSON is one profile.
type profileJSON struct {
	Name    string          `json:"name"`
	Default bool            `json:"default"` // whether requests that fit no other have it
	Builtin bool            `json:"builtin"` // whether the repository has none of its own of this name
	Types   []string        `json:"types"`
	Params  json.RawMessage `json:"params"` // as a receipt keeps them
}

const profileDoc = "A profile is a name for how answers are ranked, expanded, packed and printed: the flags of\n" +
	"'mnem retrieve' that say so, with their values. The memory keeps its profiles beside its facts,\n" +
	"in every commit: they are branched, merged, reverted and exported with it.\n\n" +
	"A request takes what its flags do not say from one profile: that of --profile, MNEM_PROFILE or\n" +
	"config retrieve.profile; else one whose types (--for-type) have all that the request asks for\n" +
	"with --type, the fewest first; else the one that 'mnem profile default' names; else the profile\n" +
	"default. What a flag says always holds, and what a profile says and does not fit it is left out:\n" +
	"rounds and --damping of ppr where --expansion says decay.\n\n" +
	"There are always default, chat, docs and code. A profile that is set under one of these names\n" +
	"takes its place, until it is removed."

func (c *cli) profileCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "profile",
		GroupID: groupChange,
		Short:   "Name and keep how answers are made",
		Long:    profileDoc,
		Example: "  mnem profile list\n  mnem profile set docs --budget 4000 --for-type Document\n" +
			"  mnem retrieve 'how to deploy' --profile docs",
	}
	return c.parent(cmd, c.profileList(), c.profileShow(), c.profileSet(), c.profileUnset(),
		c.profileDefault(), c.profileRemove(), c.profileRestore())
}

func (c *cli) profileList() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the profiles there are",
		Long: "List the profiles of a revision and the built-in ones, * before the default. With --json, one\n" +
			"object a line.",
		Example: "  mnem profile list\n  mnem profile list --at HEAD~1 --json",
		Args:    cobra.NoArgs,
	}
	c.atFlag(cmd)
	return c.command(cmd, func(cmd *cobra.Command, _ []string) error {
		return c.withRepo(cmd, false, func(ctx context.Context, r *repo.Repo) error {
			p, err := c.profiles(ctx, r)
			if err != nil {
				return err
			}
			return c.listProfiles(p)
		})
	})
}

// profiles returns those of the revision of --at.
func (c *cli) profiles(ctx context.Context, r *repo.Repo) (*retrieve.Profiles, error) {
	s, err := c.snapshot(ctx, r)
	if err != nil {
		return nil, err
	}
	return s.Profiles(ctx)
}

func (c *cli) listProfiles(p *retrieve.Profiles) error {
	var rows [][]cell
	for _, name := range p.Names() {
		if c.global.json {
			if err := c.printJSON(jsonProfile(p, name)); err != nil {
				return err
			}
			continue
		}
		mark, from := " ", "built in"
		if name == p.DefaultName() {
			mark = "*"
		}
		profile, own, _ := p.Get(name)
		if own {
			from = "own"
		}
		rows = append(rows, []cell{
			{mark + " " + name, styleBold}, {from, styleDim}, {profileText(profile), ""},
		})
	}
	return c.table(rows)
}

// profileText is a profile as the flags that would set it.
func profileText(p retrieve.Profile) string {
	text := ""
	add := func(flag, value string) {
		if text != "" {
			text += " "
		}
		text += "--" + flag + "=" + value
	}
	for _, typ := range p.Types {
		add("for-type", line(typ))
	}
	for _, e := range p.Params {
		add(line(retrieve.FlagName(e.Key)), paramText(e))
	}
	return text
}

func jsonProfile(p *retrieve.Profiles, name string) profileJSON {
	profile, own, _ := p.Get(name)
	return profileJSON{
		Name: name, Default: name == p.DefaultName(), Builtin: !own,
		Types:  append([]string{}, profile.Types...),
		Params: ipld.AppendJSON(nil, ipld.MapValue(profile.Params...)),
	}
}

func (c *cli) profileShow() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show NAME",
		Short: "Print what a profile says",
		Long: "Print the types and parameters of a profile. What it does not say is as the help of\n" +
			"'mnem retrieve' has it. Where parameters contradict each other, as after a merge, it says so.",
		Example:           "  mnem profile show chat\n  mnem profile show chat --json",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: c.completeArg(completeProfiles),
	}
	c.atFlag(cmd)
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		return c.withRepo(cmd, false, func(ctx context.Context, r *repo.Repo) error {
			p, err := c.profiles(ctx, r)
			if err != nil {
				return err
			}
			if _, err := p.Choose(args[0], nil); err != nil {
				return ops.ProfileHint(err)
			}
			if c.global.json {
				return c.printJSON(jsonProfile(p, args[0]))
			}
			return c.printProfile(p, args[0])
		})
	})
}

func (c *cli) printProfile(p *retrieve.Profiles, name string) error {
	profile, own, _ := p.Get(name)
	title := "the repository's own"
	if !own {
		_, about, _ := retrieve.BuiltinProfile(name)
		title = "built in: " + about
	}
	if name == p.DefaultName() {
		title += "; the default"
	}
	if err := c.printf("%s  %s\n", c.paint(styleBold, line(name)), title); err != nil {
		return err
	}
	var rows [][]cell
	for _, typ := range profile.Types {
		rows = append(rows, []cell{{"  for-type", ""}, {line(typ), ""}})
	}
	for _, e := range profile.Params {
		rows = append(rows, []cell{{"  " + line(retrieve.FlagName(e.Key)), ""}, {paramText(e), ""}})
	}
	if err := c.table(rows); err != nil {
		return err
	}
	if err := profile.Consistent(); err != nil {
		return c.printf("%s\n", line("does not count: "+err.Error()))
	}
	return nil
}

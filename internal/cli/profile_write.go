package cli

import (
	"context"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/retrieve"
)

// profileWrite are the flags of commands that change profiles.
type profileWrite struct{ message, expect string }

func (c *cli) profileFlags(cmd *cobra.Command, f *profileWrite) {
	c.writeFlags(cmd)
	c.branchFlag(cmd)
	c.signFlags(cmd)
	cmd.Flags().StringVarP(&f.message, "message", "m", "", "what the change is about")
	cmd.Flags().StringVar(&f.expect, "expect", "", "the `CID` of the commit that the branch must be "+
		"at, or \"none\" for a branch without one; else exit code 5")
}

// profilesWritten is what a change of profiles did, in JSON.
type profilesWritten struct {
	Commit   *string           `json:"commit"`
	Parents  []string          `json:"parents"`
	Branch   string            `json:"branch"`
	NoChange bool              `json:"no_change"`
	Profiles *ops.ProfilesDiff `json:"profiles,omitempty"` // what changed
}

// writeProfiles makes one commit of a change of profiles, and tells what changed.
func (c *cli) writeProfiles(
	cmd *cobra.Command, f profileWrite, message string,
	change func(context.Context, *repo.Repo, *retrieve.Profiles) error,
) error {
	by, err := c.signedStamp(cmd)
	if err != nil {
		return err
	}
	opt := repo.CommitOptions{Stamp: by, Branch: c.branch(), Message: firstOf(f.message, message)}
	if opt.Expect, err = ops.ParseExpect(f.expect); err != nil {
		return err
	}
	return c.withRepo(cmd, true, func(ctx context.Context, r *repo.Repo) error {
		res, err := r.SetProfiles(ctx, func(p *retrieve.Profiles) error {
			return change(ctx, r, p)
		}, opt)
		if err != nil {
			return ops.ProfileHint(err)
		}
		return c.printProfilesWritten(ctx, r, res)
	})
}

func (c *cli) printProfilesWritten(
	ctx context.Context, r *repo.Repo, res *repo.CommitResult,
) error {
	var d repo.ProfilesDiff
	if !res.NoChange {
		after, err := r.At(ctx, res.Commit)
		if err != nil {
			return err
		}
		before, err := ops.ParentOf(ctx, r, after)
		if err != nil {
			return err
		}
		if d, err = before.Diff(after).Profiles(ctx); err != nil {
			return err
		}
	}
	if c.global.json {
		return c.printJSON(profilesWritten{
			Commit: jsonCID(res.Commit), Parents: jsonCIDs(res.Parents), Branch: res.Branch,
			NoChange: res.NoChange, Profiles: ops.ProfilesDiffOf(d),
		})
	}
	if res.NoChange {
		return c.printf("nothing to commit\n")
	}
	if err := c.printf("[%s %s]\n", c.paint(styleCyan, line(res.Branch)),
		c.paint(styleYellow, shortCID(res.Commit))); err != nil {
		return err
	}
	return c.printProfilesDiff(ops.ProfilesDiffOf(d))
}

func (c *cli) profileSet() *cobra.Command {
	var f profileWrite
	var forTypes []string
	cmd := &cobra.Command{
		Use:   "set NAME [flags]",
		Short: "Make a profile, or change what it says",
		Long: "Set parameters of a profile by the flags that 'mnem retrieve' has for them; what is not given\n" +
			"stays. A new profile of a built-in name begins with what that one says. A parameter that is\n" +
			"set to nothing, as with --dedup=false, is taken out. Each change is one commit.\n\n" +
			"What goes only with another flag, as --damping with --expansion ppr, is refused where the\n" +
			"profile does not have that too.",
		Example: "  mnem profile set docs --budget 4000 --show content --for-type Document\n" +
			"  mnem profile set team --edge-weight owns=2 --edge-weight mentions=0.25\n" +
			"  mnem profile set far --expansion ppr --expand 30 --damping 0.9\n" +
			"  mnem profile set default --limit 20 -m 'longer answers'",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: c.completeArg(completeProfiles),
	}
	q := c.questionFlags(cmd, "include", "rerank", "rerank-top")
	hideOwn(cmd.Flags())
	cmd.Flags().StringArrayVar(&forTypes, "for-type", nil,
		"choose the profile for requests of this `TYPE` (repeatable)")
	c.profileFlags(cmd, &f)
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		set, unset, err := c.profileChange(cmd, q)
		if err != nil {
			return err
		}
		name := args[0]
		return c.writeProfiles(cmd, f, "set profile "+name,
			func(_ context.Context, _ *repo.Repo, p *retrieve.Profiles) error {
				profile, _, _ := p.Get(name)
				profile.Params = slices.DeleteFunc(profile.Params, func(e ipld.Entry) bool {
					_, again := ipld.FindEntry(set, e.Key)
					return again || slices.Contains(unset, e.Key)
				})
				profile.Params = append(profile.Params, set...)
				ipld.SortEntries(profile.Params)
				if forTypes != nil {
					profile.Types = slices.Compact(slices.Sorted(slices.Values(forTypes)))
				}
				p.Named[name] = profile
				return nil
			})
	})
}

// profileChange returns what the flags of a request change of a profile.
func (c *cli) profileChange(
	cmd *cobra.Command, q *ops.RetrieveRequest,
) (set []ipld.Entry, unset []string, err error) {
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		if flag.Hidden && err == nil { // by hideOwn
			err = usagef("no profile can hold --%s: %s", flag.Name, whyOwn(flag.Name))
		}
	})
	if err != nil {
		return nil, nil, err
	}
	req, err := c.question(cmd, q)
	if err != nil {
		return nil, nil, err
	}
	if name := req.Tokenizer; name != "" && name != retrieve.Estimate && counters()[name] == nil {
		return nil, nil, usagef("--tokenizer: %q is not estimate, cl100k or o200k", name)
	}
	return req.Explicitly(q.Decides()...).ProfileChange()
}

func (c *cli) profileUnset() *cobra.Command {
	var f profileWrite
	cmd := &cobra.Command{
		Use:   "unset NAME [PARAM…]",
		Short: "Take parameters out of a profile",
		Long: "Take parameters out of a profile by the names of their flags, or for-type for its types;\n" +
			"without a PARAM, all. To do away with the profile use 'mnem profile rm'.",
		Example:           "  mnem profile unset docs budget\n  mnem profile unset docs for-type show",
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: c.completeArg(completeProfiles),
	}
	c.profileFlags(cmd, &f)
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		name := args[0]
		return c.writeProfiles(cmd, f, "unset profile "+name,
			func(_ context.Context, _ *repo.Repo, p *retrieve.Profiles) error {
				if _, err := p.Choose(name, nil); err != nil {
					return err
				}
				profile, _, _ := p.Get(name)
				for _, param := range args[1:] {
					if err := takeOut(&profile, param); err != nil {
						return err
					}
				}
				if len(args) == 1 {
					profile = retrieve.Profile{}
				}
				p.Named[name] = profile
				return nil
			})
	})
}

// takeOut takes one parameter, by its own name or its flag's, out of a profile.
func takeOut(p *retrieve.Profile, name string) error {
	if name == "for-type" || name == "types" {
		p.Types = nil
		return nil
	}
	had := len(p.Params)
	p.Params = slices.DeleteFunc(p.Params, func(e ipld.Entry) bool {
		return e.Key == name || retrieve.FlagName(e.Key) == name
	})
	known := slices.ContainsFunc(retrieve.ProfileParams(), func(param string) bool {
		return param == name || retrieve.FlagName(param) == name
	})
	if had == len(p.Params) && !known {
		return &repo.NotFoundError{What: "parameter", Name: name}
	}
	return nil
}

func (c *cli) profileDefault() *cobra.Command {
	var f profileWrite
	cmd := &cobra.Command{
		Use:   "default NAME",
		Short: "Choose the profile of requests that fit no other",
		Long: "Choose the profile of requests that neither name one nor ask for the types of one. The\n" +
			"profile default is the one of a repository in which nothing was chosen.",
		Example:           "  mnem profile default chat\n  mnem profile default default",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: c.completeArg(completeProfiles),
	}
	c.profileFlags(cmd, &f)
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		return c.writeProfiles(cmd, f, "make "+args[0]+" the default profile",
			func(_ context.Context, _ *repo.Repo, p *retrieve.Profiles) error {
				name, err := p.Choose(args[0], nil)
				if err != nil {
					return err
				}
				if p.Default = name; name == retrieve.DefaultProfile {
					p.Default = ""
				}
				return nil
			})
	})
}

func (c *cli) profileRemove() *cobra.Command {
	var f profileWrite
	cmd := &cobra.Command{
		Use:   "rm NAME",
		Short: "Remove a profile",
		Long: "Remove a profile of the repository. A built-in one of the same name holds again; if there is\n" +
			"none and it was the default, the default is default.",
		Example:           "  mnem profile set team --limit 5 && mnem profile rm team",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: c.completeArg(completeProfiles),
	}
	c.profileFlags(cmd, &f)
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		name := args[0]
		return c.writeProfiles(cmd, f, "remove profile "+name,
			func(_ context.Context, _ *repo.Repo, p *retrieve.Profiles) error {
				if _, err := p.Choose(name, nil); err != nil {
					return err
				}
				if _, own, _ := p.Get(name); !own {
					return hint(&repo.NotFoundError{What: "profile of the repository", Name: name},
						"%s is built in; 'mnem profile set %s' makes one in its place", name, name)
				}
				delete(p.Named, name)
				if _, _, ok := p.Get(name); !ok && p.Default == name {
					p.Default = ""
				}
				return nil
			})
	})
}

func (c *cli) profileRestore() *cobra.Command {
	var f profileWrite
	cmd := &cobra.Command{
		Use:   "restore REV [NAME…]",
		Short: "Put profiles back as they were at a revision",
		Long: "Put the named profiles back as they were at a revision, or all of them and the default; those\n" +
			"that were not there then are removed. To undo one commit use 'mnem revert'.",
		Example:           "  mnem profile restore HEAD~1\n  mnem profile set docs --limit 5 && mnem profile restore HEAD~1 docs",
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: c.completeArg(completeRevs),
	}
	c.profileFlags(cmd, &f)
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		return c.writeProfiles(cmd, f, "restore profiles from "+args[0],
			func(ctx context.Context, r *repo.Repo, p *retrieve.Profiles) error {
				s, err := r.Snapshot(ctx, args[0])
				if err != nil {
					return ops.CommitHint(err)
				}
				was, err := s.Profiles(ctx)
				if err != nil {
					return err
				}
				if len(args) == 1 {
					*p = *was
					return nil
				}
				for _, name := range args[1:] {
					profile, then := was.Named[name]
					if _, _, known := p.Get(name); !then && !known {
						return &retrieve.NoProfileError{Name: name, Known: was.Names()}
					}
					if delete(p.Named, name); then {
						p.Named[name] = profile
					}
				}
				return nil
			})
	})
}

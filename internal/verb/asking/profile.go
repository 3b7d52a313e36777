package asking

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/mnem-project/mnem/internal/guard"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/branching"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// Profile is one retrieval profile.
type Profile struct {
	Name    string     `json:"name"`
	Default bool       `json:"default"` // whether requests that fit no other have it
	Builtin bool       `json:"builtin"` // whether the repository has none of its own of this name
	Types   []string   `json:"types"`
	Params  verb.Props `json:"params"` // as a receipt keeps them

	// About says what a built-in one is for, Misfit why some parameter does not count, for people.
	About  string `json:"_about,omitempty"`
	Misfit string `json:"_misfit,omitempty"`
}

func profileOf(s *verb.Service, p *retrieve.Profiles, name string) *Profile {
	profile, own, _ := p.Get(name)
	out := &Profile{
		Name: name, Default: name == p.DefaultName(), Builtin: !own, Types: profile.Types,
		Params: profile.Params,
	}
	if !s.Human {
		return out
	}
	if !own {
		_, out.About, _ = retrieve.BuiltinProfile(name)
	}
	if err := profile.Consistent(); err != nil {
		out.Misfit = err.Error()
	}
	return out
}

// ProfilesRequest asks for the profiles of a revision.
type ProfilesRequest struct{ verb.AtRevision }

// ProfileRequest asks for one of them.
type ProfileRequest struct {
	Name string `op:",arg,required,remote" doc:"the name of a profile"`
	verb.AtRevision
}

// profilesAt returns the profiles of a revision.
func profilesAt(ctx context.Context, s *verb.Service, rev string) (*retrieve.Profiles, error) {
	snap, err := s.At(ctx, rev)
	if err != nil {
		return nil, err
	}
	return rank.Profiles(ctx, snap)
}

// ProfileList and ProfileShow tell what profiles there are.
var (
	ProfileList = verb.Stream(verb.Spec{
		Command: "config profile list", Right: verb.NoRight, Effect: verb.Reads,
		Title: "List the profiles",
		Doc: "List the profiles of a revision and the built-in ones, * before the default. With --json, one\n" +
			"object a line.",
		Example: "  mnem config profile list\n  mnem config profile list --at HEAD~1 --json",
	}, func(ctx context.Context, s *verb.Service, q *ProfilesRequest, emit func(*Profile) error) error {
		p, err := profilesAt(ctx, s, q.At)
		if err != nil {
			return err
		}
		for _, name := range p.Names() {
			if err := emit(profileOf(s, p, name)); err != nil {
				return err
			}
		}
		return nil
	})

	ProfileShow = verb.Define(verb.Spec{
		Command: "config profile show", Right: verb.NoRight, Usage: "NAME", Effect: verb.Reads, Complete: "profile",
		Title: "Print a profile",
		Doc: "Print the types and parameters of a profile. What it does not say is as the help of\n" +
			"'mnem retrieve' has it. Where parameters contradict each other, as after a merge, it says so.",
		Example: "  mnem config profile show chat\n  mnem config profile show chat --json",
	}, func(ctx context.Context, s *verb.Service, q *ProfileRequest) (*Profile, error) {
		p, err := profilesAt(ctx, s, q.At)
		if err == nil {
			_, err = p.Choose(q.Name, nil)
		}
		if err != nil {
			return nil, verb.ProfileHint(err)
		}
		return profileOf(s, p, q.Name), nil
	})
)

// ProfileChange is what requests of verbs that change profiles have in common.
type ProfileChange struct {
	Message string `op:",short=m,remote" doc:"what the change is about"`
	Expect  string `op:",remote" doc:"the {CID} of the commit that the branch must be at, or \"none\" for a branch without one; else exit code 5"`
	verb.Actor
	verb.OnBranch
	verb.Signing
}

func (p *ProfileChange) Into(w *verb.Writing) { w.Message, w.Expect = p.Message, p.Expect }

// ProfilesChanged is what a change of profiles did.
type ProfilesChanged struct {
	Commit   ipld.CID           `json:"commit" shape:"null"`
	Parents  []ipld.CID         `json:"parents"`
	Branch   string             `json:"branch"`
	NoChange bool               `json:"no_change"`
	Profiles *rank.ProfilesDiff `json:"profiles,omitempty"` // what changed
}

// changeProfiles makes one commit of a change of profiles, and tells what changed.
func changeProfiles(
	ctx context.Context, s *verb.Service, message string, change func(*retrieve.Profiles) error,
) (*ProfilesChanged, error) {
	opt := s.Commit
	opt.Message = cmp.Or(opt.Message, guard.Mask(message))
	res, err := rank.SetProfiles(ctx, s.Repo, change, opt)
	if err != nil {
		return nil, verb.ProfileHint(err)
	}
	out := &ProfilesChanged{
		Commit: res.Commit, Parents: res.Parents, Branch: res.Branch, NoChange: res.NoChange,
	}
	if res.NoChange {
		return out, nil
	}
	after, err := s.Repo.At(ctx, res.Commit)
	if err != nil {
		return nil, err
	}
	before, err := branching.ParentOf(ctx, s.Repo, after)
	if err != nil {
		return nil, err
	}
	out.Profiles, err = rank.DiffProfiles(ctx, before.Diff(after))
	return out, err
}

// ProfileSetRequest asks for parameters of a profile to be set.
type ProfileSetRequest struct {
	Name            string   `op:",arg,required,remote" doc:"the name of a profile"`
	Set             []string `op:",arg,sets"`
	verb.Parameters `table:"profile"`
	ForType         []string `op:",remote" doc:"choose the profile for requests of this {TYPE}" note:" (repeatable)"`
	ProfileChange
}

// ProfileSet makes a profile, or changes what it says.
var ProfileSet = verb.Define(verb.Spec{
	Command: "config profile set", Right: verb.OwnRight,
	Usage: "NAME [PARAMETER=VALUE…]", Effect: verb.Writes, Idempotent: true, Complete: "profile",
	Title: "Create a profile or change its parameters",
	Doc: "Set parameters of a profile, those of 'mnem config profile set --help parameters'; what is not given stays.\n" +
		"A new profile of a built-in name begins with what that one says. A parameter that is set to nothing,\n" +
		"as with dedup=false, is taken out. Each change is one commit.\n\n" +
		"What goes only with another parameter, as damping with expansion=ppr, is refused if the profile does\n" +
		"not have that too.",
	Example: "  mnem config profile set docs budget=4000 show=content --for-type Document\n" +
		"  mnem config profile set team edge-weight=owns=2 edge-weight=mentions=0.25\n" +
		"  mnem config profile set far expansion=ppr expand=30 damping=0.9\n" +
		"  mnem config profile set default limit=20 -m 'longer answers'",
}, func(ctx context.Context, s *verb.Service, q *ProfileSetRequest) (*ProfilesChanged, error) {
	set, unset, err := q.change(s.Spec)
	if err != nil {
		return nil, err
	}
	return changeProfiles(ctx, s, "set profile "+q.Name, func(p *retrieve.Profiles) error {
		profile, _, _ := p.Get(q.Name)
		profile.Params = slices.DeleteFunc(profile.Params, func(e ipld.Entry) bool {
			_, again := ipld.FindEntry(set, e.Key)
			return again || slices.Contains(unset, e.Key)
		})
		profile.Params = append(profile.Params, set...)
		ipld.SortEntries(profile.Params)
		if q.Given("for-type") {
			profile.Types = slices.Compact(slices.Sorted(slices.Values(q.ForType)))
		}
		p.Named[q.Name] = profile
		return nil
	})
})

// change returns what the request changes of a profile.
func (q *ProfileSetRequest) change(spec *verb.Spec) (set []ipld.Entry, unset []string, err error) {
	var r retrieve.Request
	if err := spec.SetParameters(q, &r); err != nil {
		return nil, nil, err
	}
	r = r.Explicitly(Decides(&q.Parameters.Params)...)
	if err := r.ValidateGiven(); err != nil {
		return nil, nil, err
	}
	for _, f := range spec.Fields() {
		if f.Name == "tokenizer" && r.Tokenizer != "" && !slices.Contains(f.Enum, r.Tokenizer) {
			return nil, nil, verb.Bad(f.Name, "%q is not %s", r.Tokenizer, f.Param().Choice())
		}
	}
	return r.ProfileChange()
}

// NoParameter says why no profile can hold a parameter, nil for another name.
func (q *ProfileSetRequest) NoParameter(name string) error {
	for _, param := range retrieve.OwnParams() {
		if retrieve.FlagName(param) == name {
			return verb.Usagef("no profile can hold %s: %s", name, retrieve.WhyOwn(param))
		}
	}
	return nil
}

// ProfileNameRequest names a profile to change.
type ProfileNameRequest struct {
	Name string `op:",arg,required,remote" doc:"the name of a profile"`
	ProfileChange
}

// ProfileUnsetRequest asks for parameters to be taken out of a profile.
type ProfileUnsetRequest struct {
	Name   string   `op:",arg,required,remote" doc:"the name of a profile"`
	Params []string `op:",arg,remote" doc:"names of parameters"`
	ProfileChange
}

// ProfileUnset takes parameters out of a profile.
var ProfileUnset = verb.Define(verb.Spec{
	Command: "config profile unset", Right: verb.OwnRight,
	Usage: "NAME [PARAM…]", Effect: verb.Writes, Idempotent: true, Complete: "profile",
	Title: "Remove parameters from a profile",
	Doc: "Take parameters out of a profile by their names, or for-type for its types;\n" +
		"without a PARAM, all. To do away with the profile use 'mnem config profile rm'.",
	Example: "  mnem config profile unset docs budget\n  mnem config profile unset docs for-type show",
}, func(ctx context.Context, s *verb.Service, q *ProfileUnsetRequest) (*ProfilesChanged, error) {
	return changeProfiles(ctx, s, "unset profile "+q.Name, func(p *retrieve.Profiles) error {
		if _, err := p.Choose(q.Name, nil); err != nil {
			return err
		}
		profile, _, _ := p.Get(q.Name)
		for _, param := range q.Params {
			if err := takeOut(&profile, param); err != nil {
				return err
			}
		}
		if len(q.Params) == 0 {
			profile = retrieve.Profile{}
		}
		p.Named[q.Name] = profile
		return nil
	})
})

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
		return &state.NotFoundError{What: "parameter", Name: name}
	}
	return nil
}

// ProfileDefault chooses the default profile.
var ProfileDefault = verb.Define(verb.Spec{
	Command: "config profile default", Right: verb.OwnRight, Usage: "NAME", Effect: verb.Writes, Idempotent: true, Complete: "profile",
	Title: "Choose the default profile",
	Doc: "Choose the profile for requests that name none and whose types match none. Unless chosen, it is the\n" +
		"built-in profile named default.",
	Example: "  mnem config profile default chat\n  mnem config profile default default",
}, func(ctx context.Context, s *verb.Service, q *ProfileNameRequest) (*ProfilesChanged, error) {
	return changeProfiles(ctx, s, "make "+q.Name+" the default profile", func(p *retrieve.Profiles) error {
		name, err := p.Choose(q.Name, nil)
		if err != nil {
			return err
		}
		if p.Default = name; name == retrieve.DefaultProfile {
			p.Default = ""
		}
		return nil
	})
})

// ProfileRemove removes a profile.
var ProfileRemove = verb.Define(verb.Spec{
	Command: "config profile rm", Right: verb.OwnRight, Usage: "NAME", Effect: verb.Writes, Complete: "profile",
	Title: "Remove a profile",
	Doc: "Remove a profile of the repository. A built-in one of the same name holds again; if there is\n" +
		"none and it was the default, the default is default.",
	Example: "  mnem config profile set team limit=5 && mnem config profile rm team",
}, func(ctx context.Context, s *verb.Service, q *ProfileNameRequest) (*ProfilesChanged, error) {
	return changeProfiles(ctx, s, "remove profile "+q.Name, func(p *retrieve.Profiles) error {
		if _, err := p.Choose(q.Name, nil); err != nil {
			return err
		}
		if _, own, _ := p.Get(q.Name); !own {
			return verb.Hint(&state.NotFoundError{What: "profile of the repository", Name: q.Name},
				fmt.Sprintf("%s is built in; 'mnem config profile set %s' makes one in its place", q.Name, q.Name),
				q.Name+" is built in; config_profile_set makes one in its place")
		}
		delete(p.Named, q.Name)
		if _, _, ok := p.Get(q.Name); !ok && p.Default == q.Name {
			p.Default = ""
		}
		return nil
	})
})

// ProfileRestoreRequest asks for profiles to be as they were.
type ProfileRestoreRequest struct {
	Rev   string   `op:",arg,required,remote" doc:"a branch, tag, CID or any other revision"`
	Names []string `op:",arg,remote" doc:"names of profiles, none for all"`
	ProfileChange
}

// ProfileRestore puts profiles back.
var ProfileRestore = verb.Define(verb.Spec{
	Command: "config profile restore", Right: verb.OwnRight, Usage: "REV [NAME…]", Effect: verb.Writes, Complete: "rev",
	Title: "Restore profiles of an earlier revision",
	Doc: "Put the named profiles back as they were at a revision, or all of them and the default; those\n" +
		"that were not there then are removed. To undo one commit use 'mnem revert'.",
	Example: "  mnem config profile restore HEAD~1\n  mnem config profile set docs limit=5 && mnem config profile restore HEAD~1 docs",
}, func(ctx context.Context, s *verb.Service, q *ProfileRestoreRequest) (*ProfilesChanged, error) {
	return changeProfiles(ctx, s, "restore profiles from "+q.Rev, func(p *retrieve.Profiles) error {
		snap, err := s.Repo.Snapshot(ctx, q.Rev)
		if err != nil {
			return verb.CommitHint(err)
		}
		was, err := rank.Profiles(ctx, snap)
		if err != nil {
			return err
		}
		if len(q.Names) == 0 {
			*p = *was
			return nil
		}
		for _, name := range q.Names {
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

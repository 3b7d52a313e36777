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
	Builtin bool       `json:"builtin"` // whether the repository has no profile of this name
	Types   []string   `json:"types"`
	Params  verb.Props `json:"params"` // as a receipt keeps them

	// About describes a built-in profile, Misfit says why some parameter has no effect, for people.
	About  string `json:"_about,omitempty"`
	Misfit string `json:"_misfit,omitempty"`
	Alone  bool   `json:"_alone,omitempty"` // whether it was asked for by its name
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

type profileRequest struct {
	Name            string   `op:",arg,remote" doc:"the name of a profile, none for all"`
	Set             []string `op:",arg,sets,writes"`
	verb.Parameters `table:"profile"`
	Types           []string `op:"type,remote,writes" doc:"choose the profile for requests of this {TYPE}" note:" (repeatable)"`
	Unset           []string `op:",remote,writes" doc:"take the {PARAMETER} out, or type for its types" note:" (repeatable)"`
	Default         bool     `op:",remote,writes" doc:"make it the profile of requests that name none and whose types match none"`
	Remove          bool     `op:",remote,writes" doc:"remove the profile of the repository; a built-in one of the same name holds again"`
	From            string   `op:",remote,writes" complete:"rev" doc:"put the profile, or all and the default, back as at {REV}"`
	Message         string   `op:",short=m,remote" doc:"what the change is about"`
	Expect          string   `op:",remote" doc:"the {CID} of the commit that the branch must be at, or \"none\" for a branch without one; else exit code 5"`
	verb.AtRevision
	verb.Actor
	verb.OnBranch
	verb.Signing
}

func (q *profileRequest) Into(w *verb.Writing) { w.Message, w.Expect = q.Message, q.Expect }

// ProfileVerb lists, shows and changes profiles.
var ProfileVerb = verb.Stream(verb.Spec{
	Command: "config profile", Right: verb.OwnRight, Confined: true,
	Usage: "[NAME] [PARAMETER=VALUE…]", Effect: verb.Reads, Idempotent: true, Complete: "profile",
	Title: "List, show or change named sets of retrieval parameters",
	Doc: "A profile is a name for how answers are ranked, expanded, packed and printed: parameters of\n" +
		"'mnem retrieve' with their values. Without NAME list the profiles, * before the default; with NAME\n" +
		"print what it sets. The memory keeps its profiles with its facts, in every commit: they are branched,\n" +
		"merged, reverted and exported with it.\n\n" +
		"NAME PARAMETER=VALUE makes a profile or changes it; 'mnem config profile --help parameters' lists the\n" +
		"parameters. What is not given stays. A new profile of a built-in name begins with what that one says.\n" +
		"A parameter that needs another, as damping needs expansion=ppr, is refused without it. Each change\n" +
		"is one commit.\n\n" +
		"A request takes what it does not say from one profile: that of --profile, MNEM_PROFILE or\n" +
		"config retrieve.profile; else one whose types (--type) have all that the request asks for\n" +
		"with --type, the fewest first; else the one that --default chose; else the profile default. What a\n" +
		"request says always holds, and what a profile says and does not fit it is left out: rounds and damping\n" +
		"of ppr if the request says expansion=decay.\n\n" +
		"There are always default, chat, docs and code. A profile of one of these names replaces the\n" +
		"built-in one until it is removed.\n\n" +
		"With --json, one object a line.",
	Example: "  mnem config profile\n  mnem config profile chat\n" +
		"  mnem config profile docs budget=4000 show=content --type Document\n" +
		"  mnem config profile far expansion=ppr expand=30 damping=0.9\n" +
		"  mnem config profile docs --unset budget\n  mnem config profile chat --default\n" +
		"  mnem retrieve 'how to deploy' --profile docs",
	Exclude: [][]string{{"remove", "default", "from"}},
	Answers: []any{Profile{}, ProfilesChanged{}},
}, profile)

func (q *profileRequest) Check() error {
	changes := q.sets()
	for _, p := range retrieve.Params() {
		if p.Kind == retrieve.ParamTruth && q.Denies(p.Flag) {
			return verb.Usagef("a profile sets no %s=false: take it out with unset", p.Flag)
		}
	}
	switch {
	case q.Name == "" && (changes || q.Default || q.Remove):
		return verb.Usagef("name a profile")
	case changes && (q.Default || q.Remove || q.From != ""):
		return verb.Usagef("give parameters in a command of their own")
	case changes || q.Default || q.Remove || q.From != "":
		if q.Given("at") {
			return verb.Between("%s is for looking: what is written goes onto the branch", "at")
		}
		return nil
	}
	return verb.RefuseWriting(q, "%s is for a change: without one profiles are shown")
}

func (q *profileRequest) sets() bool { return len(q.named()) > 0 || len(q.Unset) > 0 }

func (q *profileRequest) named() []string { return append(Decides(&q.Parameters.Params), q.Types...) }

func profile(ctx context.Context, s *verb.Service, q *profileRequest, emit func(any) error) error {
	var done *ProfilesChanged
	var err error
	switch {
	case q.From != "":
		done, err = restoreProfiles(ctx, s, q)
	case q.Default:
		done, err = changeProfiles(ctx, s, "make "+q.Name+" the default profile", q.makeDefault)
	case q.Remove:
		done, err = changeProfiles(ctx, s, "remove profile "+q.Name, q.remove)
	case q.sets():
		done, err = setProfile(ctx, s, q)
	default:
		return tellProfiles(ctx, s, q, func(p *Profile) error { return emit(p) })
	}
	if err != nil {
		return err
	}
	return emit(done)
}

// tellProfiles gives the profiles of a revision, or the one that is named.
func tellProfiles(ctx context.Context, s *verb.Service, q *profileRequest, emit func(*Profile) error) error {
	snap, err := s.At(ctx, q.At)
	if err != nil {
		return err
	}
	p, err := rank.Profiles(ctx, snap)
	if err != nil {
		return err
	}
	if q.Name != "" {
		if _, err := p.Choose(q.Name, nil); err != nil {
			return verb.ProfileHint(err)
		}
		one := profileOf(s, p, q.Name)
		one.Alone = s.Human
		return emit(one)
	}
	for _, name := range p.Names() {
		if err := emit(profileOf(s, p, name)); err != nil {
			return err
		}
	}
	return nil
}

// ProfilesChanged describes a change of profiles.
type ProfilesChanged struct {
	Commit   ipld.CID           `json:"commit" shape:"null"`
	Parents  []ipld.CID         `json:"parents"`
	Branch   string             `json:"branch"`
	NoChange bool               `json:"no_change"`
	Profiles *rank.ProfilesDiff `json:"profiles,omitempty"` // what changed
}

// changeProfiles makes one commit of a change of profiles, and returns the differences.
func changeProfiles(
	ctx context.Context, s *verb.Service, message string, change func(*retrieve.Profiles) error,
) (*ProfilesChanged, error) {
	opt := s.Commit
	opt.Message = cmp.Or(opt.Message, guard.Mask(message))
	res, err := rank.SetProfiles(ctx, s.Repo, change, opt)
	if err != nil {
		return nil, verb.ProfileHint(err)
	}
	out := &ProfilesChanged{Commit: res.Commit, Parents: res.Parents, Branch: res.Branch, NoChange: res.NoChange}
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

func setProfile(ctx context.Context, s *verb.Service, q *profileRequest) (*ProfilesChanged, error) {
	set, unset, err := q.change(s.Spec)
	if err != nil {
		return nil, err
	}
	return changeProfiles(ctx, s, "set profile "+q.Name, func(p *retrieve.Profiles) error {
		if len(q.named()) == 0 {
			if _, err := p.Choose(q.Name, nil); err != nil {
				return err
			}
		}
		profile, _, _ := p.Get(q.Name)
		for _, param := range q.Unset {
			if err := takeOut(&profile, param); err != nil {
				return err
			}
		}
		profile.Params = slices.DeleteFunc(profile.Params, func(e ipld.Entry) bool {
			_, again := ipld.FindEntry(set, e.Key)
			return again || slices.Contains(unset, e.Key)
		})
		profile.Params = append(profile.Params, set...)
		ipld.SortEntries(profile.Params)
		if q.Given("type") {
			profile.Types = slices.Compact(slices.Sorted(slices.Values(q.Types)))
		}
		p.Named[q.Name] = profile
		return nil
	})
}

func (q *profileRequest) change(spec *verb.Spec) (set []ipld.Entry, unset []string, err error) {
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
func (q *profileRequest) NoParameter(name string) error {
	for _, param := range retrieve.OwnParams() {
		if retrieve.FlagName(param) == name {
			return verb.Usagef("no profile can hold %s: %s", name, retrieve.WhyOwn(param))
		}
	}
	return nil
}

// takeOut removes one parameter, by its own name or its flag's, from a profile.
func takeOut(p *retrieve.Profile, name string) error {
	if name == "type" {
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

func (q *profileRequest) makeDefault(p *retrieve.Profiles) error {
	name, err := p.Choose(q.Name, nil)
	if err != nil {
		return err
	}
	if p.Default = name; name == retrieve.DefaultProfile {
		p.Default = ""
	}
	return nil
}

func (q *profileRequest) remove(p *retrieve.Profiles) error {
	if _, err := p.Choose(q.Name, nil); err != nil {
		return err
	}
	if _, own, _ := p.Get(q.Name); !own {
		return verb.Hint(&state.NotFoundError{What: "profile of the repository", Name: q.Name},
			fmt.Sprintf("%s is built in; 'mnem config profile %[1]s PARAMETER=VALUE' replaces it", q.Name),
			q.Name+" is built in; a parameter with its name replaces it")
	}
	delete(p.Named, q.Name)
	if _, _, ok := p.Get(q.Name); !ok && p.Default == q.Name {
		p.Default = ""
	}
	return nil
}

func restoreProfiles(ctx context.Context, s *verb.Service, q *profileRequest) (*ProfilesChanged, error) {
	return changeProfiles(ctx, s, "restore profiles from "+q.From, func(p *retrieve.Profiles) error {
		snap, err := s.Repo.Snapshot(ctx, q.From)
		if err != nil {
			return verb.CommitHint(err)
		}
		was, err := rank.Profiles(ctx, snap)
		if err != nil {
			return err
		}
		if q.Name == "" {
			*p = *was
			return nil
		}
		profile, then := was.Named[q.Name]
		if _, _, known := p.Get(q.Name); !then && !known {
			return &retrieve.NoProfileError{Name: q.Name, Known: was.Names()}
		}
		if delete(p.Named, q.Name); then {
			p.Named[q.Name] = profile
		}
		return nil
	})
}

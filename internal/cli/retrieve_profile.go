package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/retrieve"
)

const (
	keyProfile = "retrieve.profile"
	profileEnv = "MNEM_PROFILE"
)

// profileKeys are the config keys of this file.
func profileKeys() []configKey {
	return []configKey{{keyProfile, profileEnv, "",
		"the retrieval profile, as --profile of 'mnem retrieve'",
		func(v string) error {
			if !retrieve.ValidProfileName(v) {
				return fmt.Errorf("%w: %s: %q is not the name of a profile", repo.ErrInvalid, keyProfile, v)
			}
			return nil
		}}}
}

func (c *cli) profileFlag(cmd *cobra.Command, to *string, more string) {
	cmd.Flags().StringVar(to, "profile", "",
		"take what no flag says from this `NAME`; see 'mnem help profile'"+more)
	c.complete(cmd, "profile", completeProfiles)
}

func completeProfiles(ctx context.Context, r *repo.Repo) ([]string, error) {
	s, err := r.Snapshot(ctx, "HEAD")
	if err != nil {
		return retrieve.BuiltinProfiles(), nil
	}
	p, err := s.Profiles(ctx)
	return p.Names(), err
}

// profileName returns the profile that is asked for: by flag, environment or configuration, "" for
// none.
func (c *cli) profileName(cmd *cobra.Command, flag string) (string, error) {
	if !cmd.Flags().Changed("profile") {
		return c.configured(keyProfile)
	}
	if flag == "" {
		return "", usagef("--profile: want a name; see 'mnem profile list'")
	}
	return flag, nil
}

// whyOwn says why no profile can hold a flag of requestFlags.
func whyOwn(flag string) string {
	if flag == "include" {
		flag = "marks" // its other name
	}
	for _, param := range retrieve.OwnParams() {
		if retrieve.FlagName(param) == flag {
			return retrieve.WhyOwn(param)
		}
	}
	return ""
}

// givenParams returns the parameters that profiles may set and that the command line sets.
func givenParams(cmd *cobra.Command) []string {
	var out []string
	for _, param := range retrieve.ProfileParams() {
		if cmd.Flags().Changed(retrieve.FlagName(param)) {
			out = append(out, param)
		}
	}
	return out
}

// hideOwn hides the flags of requestFlags that no profile can hold, and the defaults of the others:
// what is not given is not set.
func hideOwn(f *pflag.FlagSet) {
	may := retrieve.ProfileParams()
	f.VisitAll(func(flag *pflag.Flag) {
		flag.Hidden = true
		for _, param := range may {
			if retrieve.FlagName(param) == flag.Name {
				flag.Hidden = false
				switch flag.Value.Type() { // as pflag tells a default that is not worth a word
				case "string":
					flag.DefValue = ""
				case "int", "float64":
					flag.DefValue = "0"
				}
			}
		}
	})
}

// paramText is the value of a parameter as the flag of its name takes it.
func paramText(e ipld.Entry) string {
	v, _ := retrieve.Share(e.Key, e.Value)
	return plainText(v)
}

func plainText(v ipld.Value) string {
	switch v.Kind() {
	case ipld.String:
		return line(v.Text())
	case ipld.Float:
		return fmt.Sprint(v.Float())
	case ipld.List:
		parts := make([]string, len(v.List()))
		for i, item := range v.List() {
			parts[i] = plainText(item)
		}
		return strings.Join(parts, ",")
	case ipld.Map:
		parts := make([]string, len(v.Entries()))
		for i, e := range v.Entries() {
			parts[i] = line(e.Key) + "=" + plainText(e.Value)
		}
		return strings.Join(parts, ",")
	}
	return line(string(ipld.AppendJSON(nil, v)))
}

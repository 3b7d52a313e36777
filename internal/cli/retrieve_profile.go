package cli

import (
	"fmt"
	"strings"

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

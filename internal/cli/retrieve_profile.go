package cli

import (
	"fmt"

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

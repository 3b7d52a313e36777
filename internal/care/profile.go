package care

import (
	"github.com/mnem-project/mnem/internal/merge3"
	"github.com/mnem-project/mnem/internal/state"
)

// profiles checks the record of profiles that a state has.
func (f *FsckRun) profiles(s *state.State) {
	if _, err := merge3.ReadProfiles(f.Ctx, f.Repo.Facts(), s.Profile); err != nil {
		f.fail(s.Profile, FsckRecord, err)
	}
}

package repokit

import (
	"context"
	"slices"

	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// RefView is all refs of a repository as text.
type RefView map[string]string

// ViewOf reads the refs.
func ViewOf(t must.T, r *core.Repo) RefView {
	refs, err := r.Refs(context.Background())
	must.OK(t, err)
	v := RefView{}
	for _, ref := range refs {
		v[string(ref.Name)] = ref.Value()
	}
	return v
}

// Changed returns the names of the refs that differ, ascending, each once.
func (v RefView) Changed(to RefView) []string {
	var names []string
	for _, set := range []RefView{v, to} {
		for name := range set {
			if v[name] != to[name] {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

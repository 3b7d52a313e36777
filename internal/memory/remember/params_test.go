package remember

import (
	"fmt"
	"testing"

	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/testkit/memkit"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// TestParamsAtOnce changes one parameter each from many sides at once: none undoes another's, and
// what a later version wrote stays.
func TestParamsAtOnce(t *testing.T) {
	r := memkit.Open(t, `{"node":{"key":"a","type":"fact"}}`)
	later := []ipld.Entry{{Key: "later", Value: ipld.IntValue(7)}}
	for _, verb := range []string{"importance", verbRemember} {
		_, err := memory.ChangeVerbParams(t.Context(), r, verb, memkit.Opt, func([]ipld.Entry, error) ([]ipld.Entry, error) {
			return later, nil
		})
		must.OK(t, err)
	}
	const n = 8
	errs := make(chan error, n+2)
	for i := range n {
		go func() { // each as if it were a program of its own
			_, _, err := memory.ChangeHalfLives(t.Context(), r, memkit.Opt, func(own memory.HalfLives) error {
				own[fmt.Sprint("type", i)] = i + 1
				return nil
			})
			errs <- err
		}()
	}
	for _, change := range []func(*Params){
		func(p *Params) { p.Keep = true },
		func(p *Params) { p.SimilarFrom = 40_000 },
	} {
		go func() {
			_, _, err := ChangeParams(t.Context(), r, memkit.Opt,
				func(p *Params) error { change(p); return nil })
			errs <- err
		}()
	}
	for range n + 2 {
		must.OK(t, <-errs)
	}
	s := memkit.Tip(t, r)
	own := must.Get(memory.OwnHalfLivesAt(t.Context(), s))(t)
	must.Equal(t, len(own), n)
	p, err := ParamsAt(t.Context(), s)
	must.Check(t, err == nil && p.Keep && p.SimilarFrom == 40_000, "%+v %v", p, err)
	for _, verb := range []string{"importance", verbRemember} {
		entries, err := memory.VerbParams(t.Context(), s, verb)
		_, ok := ipld.FindEntry(entries, "later")
		must.Check(t, err == nil && ok, "%s: %v %v", verb, entries, err)
	}
}

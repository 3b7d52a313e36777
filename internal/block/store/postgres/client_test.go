package postgres

import (
	"sync"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/pgserver"
	"github.com/mnem-project/mnem/internal/testkit/storetest"
)

// TestPlace has two clients with their own places; one has two connections.
func TestPlace(t *testing.T) {
	server, ctx := pgserver.Start(t), t.Context()
	open := func(client string, create, ro bool) *Store {
		s, err := Open(ctx, Options{URL: server.URL("p"), Create: create, ReadOnly: ro, Wait: 10 * time.Second, Client: client})
		must.OK(t, err)
		t.Cleanup(func() {
			must.OK(t, s.Close())
		})
		return s
	}
	ada, bob, again, none := open("ada", true, false), open("bob", false, false), open("ada", false, true), open("", false, false)
	at := storetest.Block(1, 50).CID
	for _, place := range []store.Place{{Branch: "draft"}, {Commit: at}, {Branch: "x"}, {}} {
		must.OK(t, ada.SetPlace(ctx, place))
		for s, want := range map[*Store]store.Place{ada: place, again: place, bob: {}, none: {}} {
			if _, err := s.Head(ctx); err != nil || s.Place() != want {
				t.Errorf("%q is at %+v, want %+v: %v", s.client, s.Place(), want, err)
			}
		}
		kept, err := bob.Kept(ctx)
		must.True(t, err == nil && (len(kept) == 1) == place.Commit.Defined(), "%v, %v", kept, err)
	}
	must.Fail(t, again.SetPlace(ctx, store.Place{Branch: "x"}), store.ErrReadOnly)
	for n, s := range []*Store{ada, bob, ada, none} {
		head, err := s.Head(ctx)
		if err == nil {
			err = s.Commit(ctx, head, storetest.Next(head, n))
		}
		must.OK(t, err)
	}
	for s, want := range map[*Store][]uint64{ada: {1, 3}, again: {1, 3}, bob: {2}, none: {4}, open("carl", false, false): nil} {
		made := must.Get(s.Made(ctx))(t, s.client)
		must.Equal(t, len(made), len(want), s.client)
		for _, seq := range want {
			must.True(t, made[seq], "%q did not make %d", s.client, seq)
		}
	}
}

// TestMigrateAtOnce has many processes migrate tables of the first version concurrently, and others create them
// if none exist.
func TestMigrateAtOnce(t *testing.T) {
	server, ctx := pgserver.Start(t, "max_connections=100"), t.Context()
	all := migrations
	t.Cleanup(func() { migrations = all })
	for _, first := range []int{0, 1, 2} {
		if first > 0 {
			migrations = all[:first]
			s, err := Open(ctx, Options{URL: server.URL("old"), Create: true, Wait: 10 * time.Second})
			if err == nil {
				err = s.Close()
			}
			must.OK(t, err)
			migrations = all
		}
		var wg sync.WaitGroup
		for n := range 16 {
			wg.Go(func() {
				opt := Options{URL: server.URL("old"), Wait: 20 * time.Second}
				if first == 0 {
					opt = Options{URL: server.URL(string(rune('a' + n))), Create: true, Wait: 20 * time.Second}
				}
				s, err := Open(ctx, opt)
				if err != nil {
					t.Errorf("from version %d: %v", first, err)
					return
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		config, _, err := Parse(server.URL("old"))
		must.OK(t, err)
		c := must.Get(newPool(config, 1).connect(ctx))(t)
		must.Equal(t, must.Get(version(ctx, c))(t), len(all), "version")
		must.Get(c.Exec(ctx, "DROP SCHEMA mnem CASCADE").ReadAll())(t)
		drop(c)
	}
}

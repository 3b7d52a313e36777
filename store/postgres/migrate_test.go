package postgres

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/mnem-project/mnem/internal/testkit/pgserver"
	"github.com/mnem-project/mnem/store"
	"github.com/mnem-project/mnem/store/storetest"
)

// TestMigrate opens tables of the first version, whose roles may write on and whose blocks are counted then.
func TestMigrate(t *testing.T) {
	server, ctx := pgserver.Start(t), t.Context()
	all := migrations
	t.Cleanup(func() { migrations = all })
	migrations = all[:1]
	s, err := Open(ctx, Options{URL: server.URL("old"), Create: true, Wait: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	block := storetest.Block(1, 50)
	if err := s.Facts().Put(ctx, block); err != nil {
		t.Fatal(err)
	}
	config, _, err := Parse(server.URL("old"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Exec(ctx, `CREATE ROLE "the agents"; CREATE ROLE bob LOGIN IN ROLE "the agents";
		GRANT USAGE ON SCHEMA mnem TO "the agents";
		GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA mnem TO "the agents";
		UPDATE mnem.repository SET owner = 'the agents'`).ReadAll()
	if err := errors.Join(err, c.Close(ctx), s.Close()); err != nil {
		t.Fatal(err)
	}
	migrations = all
	as := strings.Replace(server.URL("old"), "mnem@", "bob@", 1)
	if _, err := Open(ctx, Options{URL: as}); err == nil {
		t.Error("a role that does not own the tables brought them to this version")
	}
	for _, at := range []string{server.URL("old"), as} {
		if s, err = Open(ctx, Options{URL: at}); err != nil {
			t.Fatal(err)
		}
		head, err := s.Head(ctx)
		if err == nil {
			err = s.Commit(ctx, head, storetest.Next(head, int(head.Seq)))
		}
		if err := errors.Join(err, s.Close()); err != nil {
			t.Error(err)
		}
	}
	d, err := OpenDatabase(as)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if got, err := d.Usage(ctx, "old"); err != nil || got != (Usage{1, int64(len(block.Data)), 2}) {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := d.Usage(ctx, fmt.Sprint("old", 2)); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
}

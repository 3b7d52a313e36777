package postgres

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/pgserver"
	"github.com/mnem-project/mnem/internal/testkit/storetest"
)

// TestMigrate opens tables of the first version: their roles can still write, and their blocks are counted.
func TestMigrate(t *testing.T) {
	server, ctx := pgserver.Start(t), t.Context()
	all := migrations
	t.Cleanup(func() { migrations = all })
	migrations = all[:1]
	s := must.Get(Open(ctx, Options{URL: server.URL("old"), Create: true, Wait: 10 * time.Second}))(t)
	block := storetest.Block(1, 50)
	must.OK(t, s.Facts().Put(ctx, block))
	config, _, err := Parse(server.URL("old"))
	must.OK(t, err)
	c := must.Get(pgconn.ConnectConfig(ctx, config))(t)
	_, err = c.Exec(ctx, `CREATE ROLE "the agents"; CREATE ROLE bob LOGIN IN ROLE "the agents";
		GRANT USAGE ON SCHEMA mnem TO "the agents";
		GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA mnem TO "the agents";
		UPDATE mnem.repository SET owner = 'the agents'`).ReadAll()
	must.OK(t, errors.Join(err, c.Close(ctx), s.Close()))
	migrations = all
	as := strings.Replace(server.URL("old"), "mnem@", "bob@", 1)
	must.True(t, must.Err(Open(ctx, Options{URL: as})) != nil,
		"a role that does not own the tables brought them to this version")
	for _, at := range []string{server.URL("old"), as} {
		s = must.Get(Open(ctx, Options{URL: at}))(t)
		head, err := s.Head(ctx)
		if err == nil {
			err = s.Commit(ctx, head, storetest.Next(head, int(head.Seq)))
		}
		must.OK(t, errors.Join(err, s.Close()))
	}
	d := must.Get(OpenDatabase(as))(t)
	defer d.Close()
	must.Equal(t, must.Get(d.Usage(ctx, "old"))(t), (Usage{1, int64(len(block.Data)), 2}))
	_, err = d.Usage(ctx, fmt.Sprint("old", 2))
	must.Fail(t, err, store.ErrNotFound)
}

// TestMigrateReaders opens tables of the second version under roles that may only read them: they can still read,
// and write nothing. One may read the repository; the other sees that no repository exists for it.
func TestMigrateReaders(t *testing.T) {
	server, ctx := pgserver.Start(t), t.Context()
	all := migrations
	t.Cleanup(func() { migrations = all })
	migrations = all[:2]
	s := must.Get(Open(ctx, Options{URL: server.URL("old"), Create: true, Wait: 10 * time.Second}))(t)
	block := storetest.Block(1, 50)
	must.OK(t, errors.Join(s.Facts().Put(ctx, block), s.Close()))
	config, _, err := Parse(server.URL("old"))
	must.OK(t, err)
	c := must.Get(pgconn.ConnectConfig(ctx, config))(t)
	defer func() { _ = c.Close(ctx) }() // at the end of the test
	_, err = c.Exec(ctx, `CREATE ROLE "the readers"; CREATE ROLE eve LOGIN IN ROLE "the readers"; CREATE ROLE mallory LOGIN;
		GRANT USAGE ON SCHEMA mnem TO "the readers", mallory;
		GRANT SELECT ON ALL TABLES IN SCHEMA mnem TO "the readers", mallory;
		UPDATE mnem.repository SET owner = 'the readers'`).ReadAll()
	must.OK(t, err)
	as := func(role string) string { return strings.Replace(server.URL("old"), "mnem@", role+"@", 1) }
	read := func() error {
		s, err := Open(ctx, Options{URL: as("eve"), ReadOnly: true, Client: "eve"})
		if err != nil {
			return err
		}
		_, err = s.Head(ctx)
		if err == nil {
			_, err = s.Facts().Get(ctx, block.CID)
		}
		return errors.Join(err, s.Close())
	}
	migrations = all
	s = must.Get(Open(ctx, Options{URL: server.URL("old"), Client: "mnem"}))(t)
	must.OK(t, errors.Join(s.SetPlace(ctx, store.Place{Branch: "x"}), s.Close()))
	must.OK(t, read(), "a role that may read cannot any more")
	for role, want := range map[string]string{"eve": "1", "mallory": "0"} {
		config.User = role
		c := must.Get(pgconn.ConnectConfig(ctx, config))(t)
		rows := must.Get(c.Exec(ctx, "SELECT count(*) FROM mnem.client").ReadAll())(t, role)
		must.Equal(t, string(rows[0].Rows[0][0]), want, role)
		must.True(t, must.Err(c.Exec(ctx, "DELETE FROM mnem.client").ReadAll()) != nil, "%s may write", role)
		must.OK(t, c.Close(ctx))
	}
}

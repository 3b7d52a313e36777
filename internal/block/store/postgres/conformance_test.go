package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/postgres"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/pgserver"
	"github.com/mnem-project/mnem/internal/testkit/storetest"
)

func open(t *testing.T, opt postgres.Options) *postgres.Store {
	t.Helper()
	opt.Wait = 10 * time.Second
	s := must.Get(postgres.Open(context.Background(), opt))(t)
	t.Cleanup(func() { _ = s.Close() }) // a test that closes it checks the error
	return s
}

func TestConformance(t *testing.T) {
	server := pgserver.Start(t)
	var n atomic.Int64
	storetest.Run(t, func(t *testing.T) store.Store {
		return open(t, postgres.Options{URL: server.URL(fmt.Sprint("suite", n.Add(1))), Create: true})
	})
}

// sql runs statements outside of a store.
func sql(t *testing.T, at, text string) error {
	t.Helper()
	config, _, err := postgres.Parse(at)
	must.OK(t, err)
	c, err := pgconn.ConnectConfig(t.Context(), config)
	if err != nil {
		return err
	}
	_, err = c.Exec(t.Context(), text).ReadAll()
	return errors.Join(err, c.Close(t.Context()))
}

func next(h store.Head, n int) store.Head { return storetest.Next(h, n) }

// TestTwoProcesses checks that two stores of one repository see each other's changes.
func TestTwoProcesses(t *testing.T) {
	server := pgserver.Start(t)
	at := server.URL("two")
	a := open(t, postgres.Options{URL: at, Create: true})
	b := open(t, postgres.Options{URL: at})
	ctx := t.Context()
	heard := make(chan struct{}, 100)
	listening, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		b.Listen(listening, func() { heard <- struct{}{} })
	}()
	<-heard // it listens
	head, block := next(store.Head{}, 1), storetest.Block(7, 100)
	must.OK(t, a.Commit(ctx, store.Head{}, head, block))
	<-heard
	stop()
	<-ended
	must.Equal(t, must.Get(b.Head(ctx))(t), head, "head")
	must.Fail(t, b.Commit(ctx, store.Head{}, next(store.Head{}, 2)), store.ErrHeadMoved)
	must.Get(b.Facts().Get(ctx, block.CID))(t)
	erased := make(chan struct{})
	b.Erased(func() { close(erased) })
	must.OK(t, a.Redact(ctx, store.Redaction{CID: block.CID, Stub: []byte("why")}))
	must.Get(b.Head(ctx))(t)
	<-erased
	_, err := b.Facts().Get(ctx, block.CID)
	must.Fail(t, err, store.ErrRedacted)

	// One process has the turn at a time, and a commit in a turn that a collection interrupted is refused.
	end := must.Get(a.Turn(ctx))(t)
	short, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	_, err = b.Turn(short)
	must.Fail(t, err, context.DeadlineExceeded)
	garbage, young := storetest.Block(8, 100), storetest.Block(9, 100)
	must.OK(t, b.Facts().Put(ctx, garbage, young))
	must.OK(t, sql(t, at, fmt.Sprintf("UPDATE mnem.fact SET at = now() - interval '2 hours' WHERE data = '%s'",
		garbage.Data)))
	_, _, err = b.Sweep(ctx, store.Head{}, false, garbage.CID)
	must.Fail(t, err, store.ErrHeadMoved)
	blocks, size, err := b.Sweep(ctx, head, false, garbage.CID, young.CID)
	must.True(t, err == nil && blocks == 1 && size == int64(len(garbage.Data)),
		"sweep: %d blocks, %d bytes, %v", blocks, size, err)
	if has, err := b.Facts().Has(ctx, young.CID); err != nil || !has {
		t.Error("what was put within a lease is gone")
	}
	must.Fail(t, a.Commit(ctx, head, next(head, 3)), store.ErrHeadMoved)
	end()
	end = must.Get(b.Turn(ctx))(t)
	defer end()
	must.OK(t, b.Commit(ctx, head, next(head, 3)))
}

// TestRepositories keeps repositories of one database apart, and away from roles that are not members of the
// owner's.
func TestRepositories(t *testing.T) {
	server := pgserver.Start(t)
	one := open(t, postgres.Options{URL: server.URL("one"), Create: true})
	ctx := t.Context()
	block := storetest.Block(1, 50)
	must.OK(t, one.Facts().Put(ctx, block))
	two := open(t, postgres.Options{URL: server.URL("two"), Create: true})
	if has, err := two.Facts().Has(ctx, block.CID); has || err != nil {
		t.Errorf("a block of another repository: %v, %v", has, err)
	}
	_, err := postgres.Open(ctx, postgres.Options{URL: server.URL("two"), Create: true})
	must.Fail(t, err, fs.ErrExist)
	_, err = postgres.Open(ctx, postgres.Options{URL: server.URL("three")})
	must.Fail(t, err, store.ErrNotFound)
	if err := sql(t, server.URL("one"), "CREATE ROLE agents; CREATE ROLE eve LOGIN; CREATE ROLE bob LOGIN IN ROLE agents; "+
		"GRANT USAGE ON SCHEMA mnem TO eve, agents; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA mnem TO eve, agents; "+
		"UPDATE mnem.repository SET owner = 'agents' WHERE name = 'one'"); err != nil {
		t.Fatal(err)
	}
	as := func(role, name string) string { return strings.Replace(server.URL(name), "mnem@", role+"@", 1) }
	_, err = postgres.Open(ctx, postgres.Options{URL: as("eve", "one")})
	must.Fail(t, err, store.ErrNotFound)
	must.OK(t, sql(t, as("eve", "one"), "DELETE FROM mnem.fact"))
	bob := open(t, postgres.Options{URL: as("bob", "one")})
	must.Get(bob.Facts().Get(ctx, block.CID))(t, "a member of the owner's role")
	must.OK(t, bob.Commit(ctx, store.Head{}, next(store.Head{}, 1)))
	if err := bob.Compact(ctx); !errors.Is(err, store.ErrDenied) || errors.Is(err, store.ErrNoRoom) ||
		!strings.Contains(err.Error(), `role "bob"`) || !strings.Contains(err.Error(), `"fact"`) {
		t.Errorf("compacted by a role that may not: %v", err)
	}
	read := open(t, postgres.Options{URL: as("bob", "one"), ReadOnly: true})
	must.Fail(t, read.Facts().Put(ctx, block), store.ErrReadOnly)
	must.OK(t, sql(t, server.URL("one"), "UPDATE mnem.version SET version = 99"))
	_, err = postgres.Open(ctx, postgres.Options{URL: server.URL("one")})
	must.Fail(t, err, postgres.ErrVersion)
}

func TestParse(t *testing.T) {
	for _, bad := range []string{
		"", "mysql://x", "postgres://%zz", "postgres:///x?repository=", "postgres:///x?repository=a%0Ab",
		"postgres:///x?repository=" + strings.Repeat("x", 201), "postgres://h/x?sslmode=perhaps",
	} {
		if _, _, err := postgres.Parse(bad); err == nil {
			t.Errorf("%q was accepted", bad)
		} else if strings.Contains(err.Error(), "zz") {
			t.Errorf("%q is repeated: %v", bad, err)
		}
	}
	_, name, err := postgres.Parse("postgres://u:secret@h:1/d?sslmode=disable")
	must.OK(t, err)
	must.Equal(t, name, postgres.DefaultRepository)
	for _, at := range []string{"postgres://u:secret@h/d", "postgres://u@h/d?password=secret"} {
		must.True(t, !strings.Contains(postgres.Shown(at), "secret"), "%q shows its password", at)
	}
}

// TestDatabase makes the requests of a server with several repositories.
func TestDatabase(t *testing.T) {
	server := pgserver.Start(t)
	ctx := t.Context()
	if d, err := postgres.OpenDatabase("mysql://x"); err == nil {
		d.Close()
		t.Error("the URL of another database was accepted")
	}
	d := must.Get(postgres.OpenDatabase(server.URL("any")))(t)
	t.Cleanup(d.Close)
	must.Fail(t, d.Ready(ctx, 10*time.Second), store.ErrNotFound)
	one := open(t, postgres.Options{URL: d.URL("a/one"), Create: true})
	other := open(t, postgres.Options{URL: d.URL("other"), Create: true})
	must.OK(t, d.Ready(ctx, 10*time.Second))
	for name, want := range map[string]bool{"a/one": true, "any": false} {
		has := must.Get(d.Has(ctx, name))(t)
		must.True(t, has == want, "%s: %v", name, has)
	}
	usage := func(want postgres.Usage) {
		t.Helper()
		if got, err := d.Usage(ctx, "a/one"); err != nil || got != want {
			t.Errorf("usage %+v, %v, want %+v", got, err, want)
		}
	}
	usage(postgres.Usage{})
	blocks := []store.Block{storetest.Block(1, 50), storetest.Block(2, 60), storetest.Block(3, 70)}
	must.OK(t, one.Facts().Put(ctx, blocks[0], blocks[1], blocks[0]))
	must.OK(t, one.Facts().Put(ctx, blocks[0]))
	must.OK(t, one.Derived().Put(ctx, blocks[2]))
	must.OK(t, other.Facts().Put(ctx, blocks...))
	size := func(list ...store.Block) (u postgres.Usage) {
		for _, b := range list {
			u.Blocks, u.Bytes = u.Blocks+1, u.Bytes+int64(len(b.Data))
		}
		return u
	}
	usage(size(blocks...))
	must.OK(t, one.Derived().Clear(ctx))
	must.OK(t, one.Redact(ctx, store.Redaction{CID: blocks[0].CID, Stub: []byte("why")}))
	usage(size(blocks[1]))
	h := store.Head{}
	for n := range 600 { // rows of sizes are summed up in the meantime
		b := next(h, n)
		must.OK(t, one.Commit(ctx, h, b))
		h = b
	}
	want := size(blocks[1])
	want.Commits = 600
	usage(want)
	must.Fail(t, one.Commit(ctx, store.Head{}, next(store.Head{}, 7)), store.ErrHeadMoved)
	usage(want)
	_, err := d.Usage(ctx, "any")
	must.Fail(t, err, store.ErrNotFound)
	tokens(t, d)
}

func tokens(t *testing.T, d *postgres.Database) {
	ctx := t.Context()
	for _, tt := range []struct {
		repository, id, name, data string
		want                       error
	}{
		{"a/one", "x1", "ada", "A", nil}, {"a/one", "x1", "ada", "A", nil}, {"a/one", "x2", "ada", "B", fs.ErrExist},
		{"a/one", "x1", "bob", "C", fs.ErrExist}, {"a/one", "x3", "bob", "D", nil}, {"other", "x1", "ada", "E", nil},
		{"any", "x1", "ada", "F", store.ErrNotFound},
	} {
		must.Fail(t, d.AddToken(ctx, tt.repository, tt.id, tt.name, []byte(tt.data)), tt.want, tt)
	}
	for _, tt := range []struct {
		repository, id, old, data string
		want                      bool
	}{
		{"a/one", "x1", "B", "C", false}, {"a/one", "x9", "A", "C", false}, {"any", "x1", "F", "C", false},
		{"a/one", "x3", "D", "G", true}, {"a/one", "x3", "D", "G", true}, {"a/one", "x3", "D", "H", false},
	} {
		got := must.Get(d.ReplaceToken(ctx, tt.repository, tt.id, []byte(tt.old), []byte(tt.data)))(t)
		must.True(t, got == tt.want, "%+v: %t", tt, got)
	}
	must.OK(t, d.RemoveToken(ctx, "a/one", "x3"))
	all, err := d.Tokens(ctx, "a/one")
	must.True(t, err == nil && len(all) == 1 && string(all[0]) == "A", "%q, %v", all, err)
	for _, tt := range [][3]string{{"a/one", "x1", "A"}, {"a/one", "x3", ""}, {"other", "x1", "E"}, {"any", "x1", ""}} {
		must.Equal(t, string(must.Get(d.Token(ctx, tt[0], tt[1]))(t)), tt[2])
	}
}

// TestServerFull has the server refuse writes as it does when its disk is full: the error says so, nothing is
// stored, and the store continues once there is space.
func TestServerFull(t *testing.T) {
	server := pgserver.Start(t)
	at := server.URL("full")
	s, ctx := open(t, postgres.Options{URL: at, Create: true}), t.Context()
	first := storetest.Next(store.Head{}, 1)
	must.OK(t, s.Commit(ctx, store.Head{}, first, storetest.Block(1, 8)))
	must.OK(t, sql(t, at, `CREATE FUNCTION mnem.full() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$;
		CREATE TRIGGER full_facts BEFORE INSERT ON mnem.fact EXECUTE FUNCTION mnem.full();
		CREATE TRIGGER full_derived BEFORE INSERT ON mnem.derived EXECUTE FUNCTION mnem.full();`))
	second := next(first, 2)
	for what, err := range map[string]error{
		"put":     s.Facts().Put(ctx, storetest.Block(3, 100)),
		"derived": s.Derived().Put(ctx, storetest.Block(4, 100)),
		"commit":  s.Commit(ctx, first, second, storetest.Block(2, 8)),
	} {
		if !errors.Is(err, store.ErrServerFull) || !errors.Is(err, store.ErrNoRoom) ||
			!strings.Contains(fmt.Sprint(err), "53100") || !strings.Contains(fmt.Sprint(err), "database server") {
			t.Errorf("%s: %v", what, err)
		}
	}
	must.Equal(t, must.Get(s.Head(ctx))(t), first, "head")
	must.OK(t, sql(t, at, "DROP TRIGGER full_facts ON mnem.fact"))
	must.OK(t, s.Commit(ctx, first, second, storetest.Block(2, 8)))
}

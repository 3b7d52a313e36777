package core_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/mnem-project/mnem/internal/block/store/postgres"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/pgserver"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/retrieve"
)

// bulkNodes are as many nodes as the bulk commit into a database is measured with.
const bulkNodes = 100_000

// BenchmarkDatabase makes a repository of many nodes in a database and on disk, and then small commits and retrievals. It
// writes the rows of the first to a table like its own by COPY, which is the least that they can cost.
func BenchmarkDatabase(b *testing.B) {
	server := pgserver.Start(b, "fsync=on")
	var text strings.Builder
	for n := range bulkNodes {
		fmt.Fprintf(&text, `{"node":{"key":"n%d","type":"fact","summary":"node %d of team %d likes %d and hates %d"}}`+"\n",
			n, n, n%97, n*7919%1000, n*104729%5003)
	}
	for n := 0; b.Loop(); n++ {
		at := server.URL(fmt.Sprint("bulk", n))
		dir := b.TempDir()
		must.OK(b, os.MkdirAll(dir+"/"+core.DirName, 0o700))
		must.OK(b, os.WriteFile(core.LinkFile(dir), []byte(at+"\n"), 0o600))
		database := used(b, dir, text.String(), "db")
		used(b, b.TempDir(), text.String(), "disk")
		took, size := copied(b, at)
		b.ReportMetric(took.Seconds(), "copy-s")
		b.ReportMetric(float64(size), "copy-B")
		b.ReportMetric(database.Seconds()/took.Seconds(), "bulk/copy")
	}
}

// used makes a repository in a directory, reports what its use takes, and returns what the first commit did.
func used(b *testing.B, dir, lines, where string) time.Duration {
	r := must.Get(care.Init(b.Context(), dir, repokit.By, core.Options{Wait: 10 * time.Second}))(b)
	timed := func(fn func() error) time.Duration {
		began := time.Now()
		must.OK(b, fn())
		return time.Since(began)
	}
	commit := func(text string) time.Duration {
		return timed(func() error {
			return must.Err(r.Commit(b.Context(), state.ReadChanges(strings.NewReader(text), "x"),
				core.CommitOptions{Stamp: repokit.By, Message: "bench"}))
		})
	}
	retrieve := func(n int) time.Duration {
		return timed(func() error {
			s, err := r.Snapshot(b.Context(), "HEAD")
			if err == nil {
				_, err = rank.Retrieve(b.Context(), s, retrieve.Request{Text: fmt.Sprintf("who of team %d likes %d", n%97, n*31%1000)})
			}
			return err
		})
	}
	bulk := commit(lines)
	var ones, warm []time.Duration
	for n := range 60 {
		ones = append(ones, commit(fmt.Sprintf(`{"node":{"key":"one%d","type":"fact","summary":"one more, %d"}}`, n, n)))
	}
	must.OK(b, r.Close())
	r = must.Get(care.Open(dir, core.Options{Wait: 10 * time.Second}))(b)
	first := retrieve(0)
	for n := range 60 {
		warm = append(warm, retrieve(n))
	}
	must.OK(b, r.Close())
	slices.Sort(ones)
	slices.Sort(warm)
	b.ReportMetric(bulk.Seconds(), where+"-bulk-s")
	for name, d := range map[string]time.Duration{"one": ones[30], "first": first, "warm": warm[30]} {
		b.ReportMetric(float64(d.Microseconds())/1000, where+"-"+name+"-ms")
	}
	return bulk
}

// copied writes the rows of a repository into another table by COPY.
func copied(b *testing.B, at string) (time.Duration, int) {
	config, name, err := postgres.Parse(at)
	must.OK(b, err)
	c := must.Get(pgconn.ConnectConfig(b.Context(), config))(b)
	defer func() { _ = c.Close(b.Context()) }() // it was used
	res := c.ExecParams(b.Context(), "SELECT b.repo, b.cid, b.data FROM mnem.repository r JOIN "+
		"(SELECT repo, cid, data FROM mnem.fact UNION ALL SELECT repo, cid, data FROM mnem.derived) b ON b.repo = r.id "+
		"WHERE r.name = $1", [][]byte{[]byte(name)}, nil, nil, []int16{1}).Read()
	must.OK(b, res.Err)
	var rows bytes.Buffer
	rows.WriteString("PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00")
	be := binary.BigEndian
	for _, r := range res.Rows {
		_ = binary.Write(&rows, be, int16(len(r)))
		for _, col := range r {
			_ = binary.Write(&rows, be, int32(len(col)))
			rows.Write(col)
		}
	}
	_ = binary.Write(&rows, be, int16(-1))
	if _, err = c.Exec(b.Context(), "DROP TABLE IF EXISTS copied; CREATE TABLE copied (repo integer NOT NULL, cid bytea NOT NULL, "+
		"data bytea NOT NULL, at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (repo, cid)); "+
		"ALTER TABLE copied ALTER COLUMN data SET STORAGE EXTERNAL").ReadAll(); err != nil {
		b.Fatal(err)
	}
	size := rows.Len()
	began := time.Now()
	must.Get(c.CopyFrom(b.Context(), &rows, "COPY copied (repo, cid, data) FROM STDIN (FORMAT binary)"))(b)
	return time.Since(began), size
}

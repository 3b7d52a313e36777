package remember

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/storetest"
)

// TestRememberWork bounds what remembering reads with nothing cached, whatever the size of the
// memory.
func TestRememberWork(t *testing.T) {
	last := int64(0)
	for _, n := range []int{1_000, 10_000} {
		st := mem.New()
		r, err := care.New(t.Context(), st, linkBy, core.Options{})
		must.OK(t, err)
		fill(t, r, n)
		keep(t, New(r), said("Alice moved note 7 from Redis to Kafka")...)
		c := &countedStore{st, storetest.NewCounting(st.Facts()), storetest.NewCounting(st.Derived())}
		cold, err := care.New(t.Context(), c, linkBy, core.Options{})
		must.OK(t, err)
		c.facts.Reset()
		c.derived.Reset()
		keep(t, New(cold), said("note 998 says that w17 met w23 and Priya")...)
		facts, derived := c.facts.Counts().BlocksRead, c.derived.Counts().BlocksRead
		t.Logf("%d nodes: reads %d+%d blocks", n, facts, derived)
		reads := facts + derived
		if reads > 1000 || last > 0 && reads > 2*last+10 {
			t.Errorf("%d nodes: read %d blocks, %d in a tenth of it", n, reads, last)
		}
		last = reads
	}
}

// Variables that make this test a process that remembers.
const (
	rememberDirVar  = "MNEM_TEST_REMEMBER_DIR"
	rememberNameVar = "MNEM_TEST_REMEMBER_NAME"
	rememberEach    = 5
)

// TestRememberer is one of the processes of TestRememberProcesses.
func TestRememberer(t *testing.T) {
	dir, name := os.Getenv(rememberDirVar), os.Getenv(rememberNameVar)
	if dir == "" {
		t.Skip("a process of TestRememberProcesses")
	}
	for i := range rememberEach {
		r, err := care.Open(dir, core.Options{Wait: time.Minute})
		must.OK(t, err)
		keep(t, New(r), said(fmt.Sprintf("Process %s finished task %d", name, i))...)
		must.OK(t, r.Close())
		fmt.Println("acknowledged")
	}
}

func TestRememberProcesses(t *testing.T) {
	const workers = 8
	dir := t.TempDir()
	r, err := care.Init(t.Context(), dir, linkBy, core.Options{})
	if err == nil {
		err = r.Close()
	}
	must.OK(t, err)
	outs := make([]string, workers)
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestRememberer$")
			cmd.Env = append(os.Environ(), rememberDirVar+"="+dir, rememberNameVar+"="+fmt.Sprint(w))
			out, err := cmd.CombinedOutput()
			if outs[w] = string(out); err != nil {
				outs[w] += err.Error()
			}
		})
	}
	all.Wait()
	for _, out := range outs {
		if got := strings.Count(out, "acknowledged"); got != rememberEach {
			t.Fatalf("%d of %d memories acknowledged:\n%s", got, rememberEach, out)
		}
	}
	if r, err = care.Open(dir, core.Options{}); err != nil {
		t.Fatal(err)
	}
	if got := countType(t, New(r), memory.Fact); got != workers*rememberEach {
		t.Errorf("%d memories of %d", got, workers*rememberEach)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

package postgres_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/testkit/pgserver"
	"github.com/mnem-project/mnem/store"
	"github.com/mnem-project/mnem/store/postgres"
	"github.com/mnem-project/mnem/store/storetest"
)

func open(t *testing.T, opt postgres.Options) *postgres.Store {
	t.Helper()
	opt.Wait = 10 * time.Second
	s, err := postgres.Open(context.Background(), opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // a test that closes it looks at the error
	return s
}

func TestConformance(t *testing.T) {
	server := pgserver.Start(t)
	var n atomic.Int64
	storetest.Run(t, func(t *testing.T) store.Store {
		return open(t, postgres.Options{URL: server.URL(fmt.Sprint("suite", n.Add(1))), Create: true})
	})
}

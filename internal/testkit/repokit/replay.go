package repokit

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/session"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

const (
	SessionName = "s" // of the session that Record makes
	ReplaySeed  = 3   // of the random numbers of replay tests
)

// Record makes the demo memory, records requests in a session, and then makes further commits.
func Record(r *core.Repo, reqs []retrieve.Request, memory, change string, commits int) error {
	ctx := context.Background()
	if _, err := TryLines(r, memory); err != nil {
		return err
	}
	if _, err := session.StartSession(ctx, r, SessionName, session.SessionOptions{Stamp: By}); err != nil {
		return err
	}
	for i, req := range reqs {
		if _, _, err := session.RetrieveIn(ctx, r, SessionName, req, By); err != nil {
			return fmt.Errorf("request %d: %w", i, err)
		}
	}
	for i := range commits {
		text := fmt.Sprintf(`{"node":{"key":"more%d","type":"Decision","summary":"booking berth %d"}}
{"node":{"key":"svc/billing","props":{"round":%d}}}
{"edge":{"type":"about","src":"more%d","dst":"svc/billing"}}
`, i, i, i, i)
		if i == 0 {
			text += change + bulk(12)
		}
		if _, err := TryLines(r, text); err != nil {
			return err
		}
	}
	return nil
}

// bulk returns lines for n nodes with contents that do not compress.
func bulk(n int) string {
	rng := rand.NewChaCha8([32]byte{ReplaySeed})
	var b strings.Builder
	for i := range n {
		var data [12_000]byte
		_, _ = rng.Read(data[:])
		fmt.Fprintf(&b, `{"node":{"key":"bulk%d","type":"Bulk","content":"%x"}}`+"\n", i, data)
	}
	return b.String()
}

// DemoText returns the change lines of the demo memory, and those of its later change.
func DemoText(t testing.TB) (memory, change string) {
	t.Helper()
	data := must.Get(os.ReadFile(DemoChange))(t)
	return strings.Join(DemoLines(t), ""), string(data)
}

// Lies are the faulty answers that a disk may give for a block, by name.
var Lies = map[string]func(rng *rand.Rand, c ipld.CID, data []byte) ([]byte, error){
	"a flipped bit": func(rng *rand.Rand, _ ipld.CID, data []byte) ([]byte, error) {
		if len(data) == 0 {
			return []byte{0}, nil
		}
		data[rng.IntN(len(data))] ^= 1 << rng.IntN(8)
		return data, nil
	},
	"half": func(_ *rand.Rand, _ ipld.CID, data []byte) ([]byte, error) {
		if len(data) == 0 {
			return []byte{1}, nil
		}
		return data[:len(data)/2], nil
	},
	"zeros": func(_ *rand.Rand, _ ipld.CID, data []byte) ([]byte, error) {
		clear(data)
		return append(data, 0), nil
	},
	"an error": func(_ *rand.Rand, c ipld.CID, data []byte) ([]byte, error) {
		return nil, &store.CorruptError{Want: c, Got: ipld.Sum(ipld.Raw, data)}
	},
	"nothing": func(_ *rand.Rand, c ipld.CID, _ []byte) ([]byte, error) { return nil, &store.NotFoundError{CID: c} },
}

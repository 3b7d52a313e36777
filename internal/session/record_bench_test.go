package session_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/session"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/retrieve"
)

// BenchmarkRecord measures recorded answers of eight clients at a time, each in a session of its own, from a
// memory of 1,000 nodes on disk; and the records alone.
func BenchmarkRecord(b *testing.B) {
	const clients = 8
	r, err := care.Init(b.Context(), b.TempDir(), repokit.By, core.Options{})
	must.OK(b, err)
	defer r.Close()
	var all strings.Builder
	for n := range 1000 {
		all.WriteString(repokit.Person(n) + "\n")
	}
	repokit.Lines(b, r, all.String())
	for c := range clients {
		startSession(b, r, fmt.Sprintf("client-%d", c), session.SessionOptions{Follow: true})
	}
	req := retrieve.Request{Text: "person 7", Floor: retrieve.FloorRest}
	answer, err := rank.Retrieve(b.Context(), repokit.Head(b, r), req)
	must.OK(b, err)
	each := func(b *testing.B, do func(name string) error) {
		next := make(chan int)
		ended := make(chan error)
		for c := range clients {
			go func() {
				for range next {
					ended <- do(fmt.Sprintf("client-%d", c))
				}
			}()
		}
		running := 0
		for i := 0; b.Loop(); i++ {
			for running >= clients {
				must.OK(b, <-ended)
				running--
			}
			next <- i
			running++
		}
		for ; running > 0; running-- {
			<-ended
		}
		close(next)
	}
	b.Run("record", func(b *testing.B) {
		each(b, func(name string) error {
			_, err := session.Record(b.Context(), r, name, answer, repokit.By)
			return err
		})
	})
	b.Run("retrieve", func(b *testing.B) {
		each(b, func(name string) error {
			_, _, err := session.RetrieveIn(b.Context(), r, name, req, repokit.By)
			return err
		})
	})
}

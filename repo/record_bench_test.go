package repo_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/retrieve"
)

// BenchmarkRecord measures recorded answers of eight clients at a time, each in a session of its own, from a
// memory of 1,000 nodes on disk; and the records alone.
func BenchmarkRecord(b *testing.B) {
	const clients = 8
	r, err := repo.Init(b.Context(), b.TempDir(), by, repo.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	var all strings.Builder
	for n := range 1000 {
		all.WriteString(person(n) + "\n")
	}
	lines(b, r, all.String())
	for c := range clients {
		startSession(b, r, fmt.Sprintf("client-%d", c), repo.SessionOptions{Follow: true})
	}
	req := retrieve.Request{Text: "person 7", Floor: retrieve.FloorRest}
	answer, err := head(b, r).Retrieve(b.Context(), req)
	if err != nil {
		b.Fatal(err)
	}
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
				if err := <-ended; err != nil {
					b.Fatal(err)
				}
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
			_, err := r.Record(b.Context(), name, answer, by)
			return err
		})
	})
	b.Run("retrieve", func(b *testing.B) {
		each(b, func(name string) error {
			_, _, err := r.RetrieveIn(b.Context(), name, req, by)
			return err
		})
	})
}

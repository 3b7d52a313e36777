//go:build !nomodel

package minilm_test

import (
	"context"
	"fmt"
	"log"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/repo/minilm"
	"github.com/mnem-project/mnem/retrieve"
)

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

// A question finds a memory with which it has no word in common.
func Example() {
	ctx := context.Background()
	r := must(repo.New(ctx, repo.Options{
		By: repo.Author{Name: "Ada"}, Now: func() graph.Time { return 1_800_000_000_000_000 },
		Meaning: minilm.Model(),
	}))
	defer r.Close()
	must(r.Remember(ctx,
		repo.Memory{Text: "The physician said to take the pills after breakfast."},
		repo.Memory{Text: "Our car is parked on the third floor."},
		repo.Memory{Text: "The staging database listens on port 5433."},
	))
	snap := must(r.Snapshot(ctx, ""))
	answer := must(snap.Retrieve(ctx, retrieve.Request{Text: "when should I swallow my medicine", Limit: new(1)}))
	fmt.Println(must(snap.Node(ctx, answer.Items[0].ID)).Summary)
	// Output: The physician said to take the pills after breakfast.
}

package repo_test

import (
	"context"
	"fmt"
	"log"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/retrieve"
)

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

// The whole way: a thousand facts, a question, a branch, a difference, a merge, and a session that is replayed.
func Example() {
	ctx := context.Background()
	clock := func() graph.Time { return 1_800_000_000_000_000 }
	r := must(repo.New(ctx, repo.Options{By: repo.Author{Name: "Ada"}, Now: clock}))
	defer r.Close()

	facts := []repo.Fact{repo.Node{Key: "billing", Type: "Service", Summary: "Billing charges customers"}}
	for i := range 999 {
		facts = append(facts, repo.Node{Type: "Note", Summary: fmt.Sprintf("Ticket %d was closed", i)})
	}
	fmt.Println(must(r.Put(ctx, "what is known", facts...)).Nodes.Added, "nodes")

	session := must(r.StartSession(ctx, "monday", "", false))
	answer, _, err := session.Retrieve(ctx, retrieve.Request{Text: "what charges customers?", Limit: new(1)})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(answer.Items[0].Rendered)

	before := must(r.Snapshot(ctx, ""))
	must(r.CreateBranch(ctx, "draft", ""))
	if err := r.Switch(ctx, "draft"); err != nil {
		log.Fatal(err)
	}
	must(r.Put(ctx, "renamed", repo.Node{Key: "billing", Summary: "Payments charges customers"}))
	for d, err := range before.DiffNodes(ctx, must(r.Snapshot(ctx, "draft"))) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(d.New.Key, d.Fields[0].Field, "->", repo.FieldText(d.Fields[0].New))
	}
	if err := r.Switch(ctx, "main"); err != nil {
		log.Fatal(err)
	}
	fmt.Println(must(r.Merge(ctx, "draft", "")).Branch, "merged")
	fmt.Println("identical:", must(session.Replay(ctx)).Identical)
	// Output:
	// 1000 nodes
	// ntype: Service
	// id: 5216fd72-c944-5e66-6826-58b0af18226f
	// summary: Billing charges customers
	// billing summary -> Payments charges customers
	// main merged
	// identical: true
}

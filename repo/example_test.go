package repo_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"
	"time"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/retrieve"
)

// The whole way: make a repository, commit facts, ask a question.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "mnem-example-*")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	by := repo.Stamp{
		Author: "Ada", Time: graph.From(time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)),
		Command: []string{"example"},
	}
	r, err := repo.Init(ctx, dir, by, repo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()

	facts := strings.NewReader(
		`{"node":{"key":"alice","type":"Person","summary":"Alice leads infra"}}
{"node":{"key":"svc/billing","type":"Service","summary":"Billing charges customers"}}
{"edge":{"type":"owns","src":"alice","dst":"svc/billing"}}
`)
	res, err := r.Commit(ctx, repo.ReadChanges(facts, "facts.jsonl"),
		repo.CommitOptions{Stamp: by, Message: "who owns what"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Nodes.Added, "nodes,", res.Edges.Added, "edge")

	snap, err := r.Snapshot(ctx, "HEAD")
	if err != nil {
		log.Fatal(err)
	}
	answer, err := snap.Retrieve(ctx, retrieve.Request{
		Text: "what charges customers?", Adjacency: 5, Budget: new(500), Limit: new(1),
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, item := range answer.Items {
		fmt.Print(item.Rendered)
	}
	// Output:
	// 2 nodes, 1 edge
	// ntype: Service
	// id: 91473a54-9c9b-49ed-ed2d-c861a9816a13
	// summary: Billing charges customers
	// Incoming:
	//   owns <- b4a9765e-f642-c681-561b-de25662639d2
}

// Two commits and what differs between them.
func ExampleSnapshot_Diff() {
	ctx := context.Background()
	r, cleanup := exampleRepo(
		`{"node":{"key":"alice","type":"Person","props":{"team":"infra"}}}`,
		`{"node":{"key":"alice","props":{"team":"platform"}}}`,
	)
	defer cleanup()
	before, err := r.Snapshot(ctx, "HEAD~1")
	if err != nil {
		log.Fatal(err)
	}
	after, err := r.Snapshot(ctx, "HEAD")
	if err != nil {
		log.Fatal(err)
	}
	for n, err := range before.Diff(after).Nodes(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		for _, f := range n.Fields {
			fmt.Println(n.Kind, n.Node().Key, f.Field, repo.FieldText(f.Old), "->",
				repo.FieldText(f.New))
		}
	}
	// Output:
	// changed alice props.team infra -> platform
}

// A session answers from one commit, whatever happens later, and can be replayed.
func ExampleRepo_Replay() {
	ctx := context.Background()
	r, cleanup := exampleRepo(`{"node":{"key":"alice","type":"Person","summary":"Alice leads infra"}}`)
	defer cleanup()
	by := repo.Stamp{Author: "Ada", Time: 1, Command: []string{"session", "start"}}
	if _, err := r.StartSession(ctx, "monday", repo.SessionOptions{Stamp: by}); err != nil {
		log.Fatal(err)
	}
	req := retrieve.Request{Text: "who leads infra?"}
	if _, _, err := r.RetrieveIn(ctx, "monday", req, by); err != nil {
		log.Fatal(err)
	}
	_, err := r.Commit(ctx, repo.ReadChanges(strings.NewReader(
		`{"node":{"key":"alice","summary":"Alice left"}}`), ""), repo.CommitOptions{Stamp: by})
	if err != nil {
		log.Fatal(err)
	}
	res, err := r.Replay(ctx, "monday")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Receipts, "receipt, identical:", res.Identical)
	// Output:
	// 1 receipt, identical: true
}

// exampleRepo makes a repository with a commit for each text.
func exampleRepo(commits ...string) (*repo.Repo, func()) {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "mnem-example-*")
	if err != nil {
		log.Fatal(err)
	}
	by := repo.Stamp{Author: "Ada", Time: 1, Command: []string{"example"}}
	r, err := repo.Init(ctx, dir, by, repo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, text := range commits {
		_, err := r.Commit(ctx, repo.ReadChanges(strings.NewReader(text), ""),
			repo.CommitOptions{Stamp: by, Message: "example"})
		if err != nil {
			log.Fatal(err)
		}
	}
	return r, func() {
		r.Close()
		os.RemoveAll(dir)
	}
}

package memory

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
)

// topics are what the texts of the benchmark are about.
var topics = strings.Fields("billing search login backup gateway cache queue mail report invoice " +
	"cluster deploy metrics storage network audit export import session profile")

// sentence returns the nth text of the benchmark: names and numbers of its own among common words.
func sentence(i int) string {
	return fmt.Sprintf("The %s service of tenant t%d moved to host h%d in rack %d because the %s team "+
		"of customer c%d needed %d GB for its %s", topics[i%20], i/7, i*31%9973, i%97, topics[i*7%20],
		i*13%4999, i%512, topics[i*11%20])
}

// paragraph returns a long text: 900 words.
func paragraph(i int) string {
	var b strings.Builder
	for n := range 40 {
		b.WriteString(sentence(i*40+n) + ". ")
	}
	return b.String()
}

// BenchmarkRemember measures what remembering takes beside the plain commit of the same node, in a
// memory of 10,000 on disk.
func BenchmarkRemember(b *testing.B) {
	for _, of := range []struct {
		name string
		text func(int) string
	}{{"short", sentence}, {"long", paragraph}} {
		r, err := care.Init(b.Context(), b.TempDir(), linkBy, core.Options{})
		if err != nil {
			b.Fatal(err)
		}
		m := New(r)
		var reqs []RememberRequest
		for i := range 10_000 {
			reqs = append(reqs, RememberRequest{Text: sentence(i)})
		}
		opt := rememberAt(0)
		opt.Links.Off = Rules()
		if _, err := m.RememberAll(b.Context(), opt, reqs); err != nil {
			b.Fatal(err)
		}
		n := 20_000
		b.Run(of.name+"/commit", func(b *testing.B) {
			for b.Loop() {
				text := of.text(n)
				change := graph.Change{Node: &graph.NodeChange{ID: ID(Fact, text, 0), Type: Fact, Summary: &text}}
				opt := rememberAt(n % 1000).CommitOptions
				opt.Message = "m"
				if _, err := r.Commit(b.Context(), each([]graph.Change{change}), opt); err != nil {
					b.Fatal(err)
				}
				n++
			}
		})
		for _, kind := range []string{"remember", "noedges", "nodiff"} {
			b.Run(of.name+"/"+kind, func(b *testing.B) {
				for b.Loop() {
					opt := rememberAt(n % 1000)
					if kind == "noedges" {
						opt.Links.Off = Rules()
					}
					req := RememberRequest{Text: of.text(n), NoDiff: kind == "nodiff"}
					if _, err := m.Remember(b.Context(), opt, req); err != nil {
						b.Fatal(err)
					}
					n++
				}
			})
		}
		if err := r.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

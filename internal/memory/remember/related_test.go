package remember

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/memory/recall"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestRelatedAndSuggest: the reasons of a related node, and tags with their rarity.
func TestRelatedAndSuggest(t *testing.T) {
	m := newMemory(t)
	a := draft("The cache server of Alice ran out of memory.", 0, "s")
	b := draft("The site went down because the cache server ran out of memory.", 1, "s")
	c := draft("Alice prefers tea.", 2, "t")
	d := draft("The cache of the shop is old.", 3, "u")
	a.Tags, b.Tags, c.Tags, d.Tags = []string{"Ops", "cache"}, []string{"ops"}, []string{"people"}, []string{"ops"}
	for _, x := range []*Draft{a, b, c, d} {
		m.writeDrafts(t, LinkOptions{}, []Near{{ID: a.ID}}, x)
	}
	s := m.headOf(t)
	x := must.Get(recall.Related(t.Context(), s, recall.RelatedRequest{ID: a.ID}))(t)
	var got []string
	for _, r := range x.Nodes {
		line := r.Node.Summary
		for _, why := range r.Reasons {
			line += fmt.Sprintf(" | %s %v", why.Kind, why.Names)
			if why.Edge != nil {
				line = fmt.Sprintf("%s | %s %t", strings.TrimSuffix(line, " | edge []"), why.Edge.Type, why.Edge.Forward)
			}
		}
		got = append(got, line)
	}
	want := `The site went down because the cache server ran out of memory. | causes true | follows false | shared [Ops] | text []
Alice prefers tea. | near false | shared [Alice] | text []
The cache of the shop is old. | shared [Ops] | text []
Alice | mentions true
cache | tagged true
Ops | tagged true`
	must.Equal(t, strings.Join(got, "\n"), want, "got\n")
	tags, err := recall.Suggest(t.Context(), s, "Is the cache server of Berlin in 2024 full?")
	if err != nil || len(tags) < 3 || tags[0].Name != "Ops" || tags[1].Name != "cache" ||
		!tags[len(tags)-1].Text {
		t.Errorf("%+v, %v", tags, err)
	}
	must.Check(t, must.Err(recall.Suggest(t.Context(), s, " ")) != nil, "blank")
}

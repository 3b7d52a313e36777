package ingest

import (
	"path"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/ingest/parse"
	"github.com/mnem-project/mnem/ipld"
)

// abouts holds the descriptions of packages by directory: the first sentence of the package comment. It is added to the
// context of the package's chunks, which seldom contain its words.
type abouts map[Path]string

// add adds a document's description of its package. The document with the first path wins.
func (a abouts) add(p Path, about string) {
	if dir := packageOf(p); about != "" && a[dir] == "" && !parse.IsTest(p.Name) {
		a[dir] = about
	}
}

// of returns the description for the context of a document, with the mark before it.
func (a abouts) of(p Path, format parse.Format) string {
	if about := a[packageOf(p)]; about != "" && format == parse.Go && !parse.IsTest(p.Name) {
		return placeMark + about
	}
	return ""
}

func packageOf(p Path) Path { return Path{p.Project, path.Dir(p.Name)} }

// reword makes the contexts of the chunks of a document that is unchanged end with what its package says now.
func (p *planner) reword(d *stored) error {
	format := parse.Format(textProp(d.node, propFormat))
	was, now := p.said.of(d.path, format), p.says.of(d.path, format)
	if was == now {
		return nil
	}
	if err := p.cat.load(p.ctx, d); err != nil {
		return err
	}
	for i, n := range d.chunks {
		if i == 0 {
			continue // as in writer.chunk
		}
		context := strings.TrimSuffix(n.Context, was) + now
		p.out.Changes = append(p.out.Changes, graph.Change{
			Node: &graph.NodeChange{Key: n.Key, Type: TypeChunk, Context: &context},
		})
	}
	return nil
}

// textProp returns a property that is a text, "" for none.
func textProp(n *graph.Node, name string) string {
	v, _ := ipld.FindEntry(n.Props, name)
	if v.Kind() != ipld.String {
		return ""
	}
	return v.Text()
}

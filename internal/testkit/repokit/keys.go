package repokit

import (
	"github.com/mnem-project/mnem/internal/view"
	"github.com/mnem-project/mnem/ipld"
)

// TextsKey returns view.TextsKey of a graph.
func TextsKey(graph ipld.CID) ipld.CID { return view.TextsKey(graph) }

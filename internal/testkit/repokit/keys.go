package repokit

import (
	"github.com/mnem-project/mnem/internal/view"
	"github.com/mnem-project/mnem/ipld"
)

// TextsKey is textsKey for the tests that see the package from outside.
func TextsKey(graph ipld.CID) ipld.CID { return view.TextsKey(graph) }

package retrieve

import (
	"github.com/mnem-project/mnem/graph"
)

// DateRange is a time that the text of a request names.
type DateRange struct {
	From graph.OptTime `json:"from"` // inclusive
	To   graph.OptTime `json:"to"`   // exclusive
}

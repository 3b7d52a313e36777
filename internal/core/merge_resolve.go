package core

import (
	"strings"

	"github.com/mnem-project/mnem/graph"
)

func CompareItems(a, b graph.Item) int { return strings.Compare(a.String(), b.String()) }

package repokit

import (
	"bytes"
	"fmt"
)

// HubLines makes a hub with n edges to leaves.
func HubLines(n int) string {
	var b bytes.Buffer
	b.WriteString(`{"node":{"key":"hub","type":"Hub","summary":"the centre"}}` + "\n")
	for i := range n {
		fmt.Fprintf(&b, `{"node":{"key":"l%d","type":"Leaf","summary":"leaf %d"}}`+"\n", i, i)
		fmt.Fprintf(&b, `{"edge":{"type":"to","src":"hub","dst":"l%d"}}`+"\n", i)
	}
	return b.String()
}

package mcp

import (
	"fmt"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestAnswered reads which calls a message answers.
func TestAnswered(t *testing.T) {
	for message, want := range map[string]string{
		`{"jsonrpc":"2.0","id":3,"result":{"id":4}}`:                     `[3]`,
		`{"jsonrpc":"2.0","id":"a\"b","error":{"code":1,"message":"m"}}`: `["a\"b"]`,
		`{"jsonrpc":"2.0","id":5,"method":"ping"}`:                       `[]`,
		`{"jsonrpc":"2.0","method":"notifications/x","params":{"id":6}}`: `[]`,
		`[{"jsonrpc":"2.0","id":7,"result":{}},{"id":8,"error":{}},{}]`:  `[7 8]`,
		`{"jsonrpc":"2.0","id":9,"resul`:                                 `[]`,
		`no JSON`:                                                        `[]`,
	} {
		must.Equal(t, fmt.Sprint(answered([]byte(message))), want, message)
	}
}

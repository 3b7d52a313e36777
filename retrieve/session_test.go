package retrieve

import (
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// testSessions returns valid records, the first with every field.
func testSessions() []Session {
	return []Session{
		{
			Name: "review/1", Seq: 3, Prev: testCommit, Commit: testCommit, Agent: "agent",
			Task: "task", Actor: "alice", Time: -1, Receipt: testCommit, Ended: true,
			Extra: []ipld.Entry{{Key: "zz", Value: ipld.StringValue("later")}},
		},
		{Name: "_default", Follow: true, Actor: "a"},
	}
}

func FuzzDecodeSession(f *testing.F) {
	for _, s := range testSessions() {
		f.Add(s.Encode())
	}
	f.Fuzz(func(t *testing.T, block []byte) {
		s, err := DecodeSession(block)
		if err != nil {
			must.Fail(t, err, ipld.ErrInvalid)
			return
		}
		must.Same(t, s.Encode(), block, "decoded, but encodes to other bytes")
	})
}

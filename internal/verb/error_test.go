package verb

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/state"
)

// TestHintInDoubt: a commit that may have been made on a disk that is full is looked for before it is made again; one
// that was not made needs space.
func TestHintInDoubt(t *testing.T) {
	full := fmt.Errorf("write head file: %w", syscall.ENOSPC)
	for _, c := range []struct {
		err           error
		local, remote string
	}{
		{fmt.Errorf("commit operation 3: %w: %w", store.ErrUnknown, full), "mnem op log", "op_log"},
		{fmt.Errorf("%w: %w", store.ErrUnknown, &store.NoRoomError{Needs: 9}), "mnem op log", "op_log"},
		{full, "free some room on the disk", "free some room on the disk"},
		{&store.NoRoomError{Needs: 9}, "free 9 bytes", "free 9 bytes"},
	} {
		if local, remote := HintOf(c.err, false), HintOf(c.err, true); !strings.Contains(local, c.local) ||
			!strings.Contains(remote, c.remote) {
			t.Errorf("%v: %q, %q", c.err, local, remote)
		}
	}
}

// TestSecretHint names the flag only if the verb has it.
func TestSecretHint(t *testing.T) {
	for field, want := range map[string]bool{
		"node.summary": true, "commit.message": true, "text": true, "tag": true,
		"branch": false, "session.task": false, "profile.profiles": false, "redaction.reason": false, "operation.command": false,
	} {
		local, remote := secretHint(&state.SecretError{Field: field, Rules: []string{"github-pat"}})
		if got := strings.Contains(local, "--allow-secret"); got != want || strings.Contains(remote, "allow_secret") != want {
			t.Errorf("%s: %q, %q", field, local, remote)
		}
	}
}

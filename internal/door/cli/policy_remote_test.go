package cli

import (
	"encoding/json"
	"errors"
	"io"
	"testing"

	"github.com/mnem-project/mnem/internal/door/verbs"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

// TestPolicyBindsRemoteCallers: who calls a server is an agent, with a name or without.
func TestPolicyBindsRemoteCallers(t *testing.T) {
	w := newWorld(t)
	w.init()
	w.write("a.jsonl", aliceLine)
	w.run(0, "commit", "-m", "one", "a.jsonl")
	w.run(0, "config", "policy", "--write", "--agent", "codex*", "remember", "--type", "fact",
		"--type", "Entity", "--type", "Tag")
	var remember operation.Operation
	for _, o := range verbs.Operations() {
		if o.Name == "remember" {
			remember = o
		}
	}
	runner := verbs.NewRunner(w.App, false)
	call := func(agent, text string) error {
		arg, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		_, err = runner.Run(w.ctx, operation.Call{
			Operation: &remember, Args: map[string]json.RawMessage{"text": arg},
			Caller: operation.Caller{Agent: agent},
		}, io.Discard)
		return err
	}
	if err := call("codex/1.2", "The build takes four minutes"); err != nil {
		t.Error(err)
	}
	for _, agent := range []string{"", "claude-code"} {
		var refused *operation.Error
		err := call(agent, "Bob deploys on Fridays")
		if !errors.As(err, &refused) || refused.Outcome != operation.Refused ||
			refused.Outcome.Refusal() != operation.KindNotAllowed {
			t.Errorf("agent %q: %v, want it to be refused", agent, err)
		}
	}
	w.run(0, "remember", "Bob deploys on Fridays") // a person
}

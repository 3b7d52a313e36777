package capture_test

import (
	"path/filepath"
	"testing"

	"github.com/mnem-project/mnem/internal/agent/capture"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestHosts reads what hosts say, and answers in their form.
func TestHosts(t *testing.T) {
	for _, c := range []struct{ host, in, dir, out string }{
		{"claude-code", `{"session_id":"s","cwd":"/p","prompt":"x"}`, "/p",
			`{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"t"}}`},
		{"claude-code", `{"sessionId":"s","cwd":"/p","transcript_path":"/t","hookEventName":"UserPromptSubmit"}`, "/p",
			`{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"t"}}`},
		{"codex", `{"session_id":"s","cwd":"/p","transcript_path":null}`, "/p",
			`{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"t"}}`},
		{"gemini", `{"session_id":"s","cwd":"/p"}`, "/p",
			`{"hookSpecificOutput":{"hookEventName":"BeforeAgent","additionalContext":"t"}}`},
		{"gemini", "\xef\xbb\xbf" + `{"session_id":"s","cwd":"/p"}`, "/p",
			`{"hookSpecificOutput":{"hookEventName":"BeforeAgent","additionalContext":"t"}}`},
		{"cursor", `{"conversation_id":"s","workspace_roots":["/q"]}`, "/q",
			`{"continue":true,"additional_context":"t"}`},
		{"copilot-cli", `{"sessionId":"s","timestamp":1,"cwd":"/p"}`, "/p", `{"additionalContext":"t"}`},
		{"cline", `{"clineVersion":"4.1.13","hookName":"UserPromptSubmit","taskId":"s","workspaceRoots":["/q"],` +
			`"userPromptSubmit":{"prompt":"x","attachments":[]}}`, "/q", `{"cancel":false,"contextModification":"t"}`},
	} {
		call, err := capture.Parse(c.host, "prompt", []byte(c.in))
		must.True(t, err == nil && call.Session == "s" && call.Dir == c.dir, "%s: %+v, %v", c.host, call, err)
		must.Equal(t, string(capture.Output(capture.Host(c.host), capture.Prompt, "t")), c.out+"\n", c.host)
	}
	call, err := capture.Parse("cline", "UserPromptSubmit", []byte(`{"taskId":"s","userPromptSubmit":{"prompt":"why?"}}`))
	must.True(t, err == nil && call.Prompt == "why?" && call.Dir == "", "%+v, %v", call, err)
	given := `<hook_context>This project has a memory.\n[1] fact\n</hook_context>\n\nwhy?`
	for in, want := range map[string]string{given: "why?", `why?`: "why?", `<command-name>/clear</command-name>`: ""} {
		call, err := capture.Parse("gemini", "prompt", []byte(`{"session_id":"s","cwd":"/p","prompt":"`+in+`"}`))
		must.True(t, err == nil && call.Prompt == want, "%q: %+v, %v", in, call, err)
	}
	for host, forgets := range map[string]bool{"claude-code": true, "codex": true, "gemini": false} {
		for event, want := range map[string]bool{"compact": forgets, "session-start": true, "prompt": false, "stop": false} {
			call, err := capture.Parse(host, event, []byte(`{"session_id":"s"}`))
			must.True(t, err == nil && call.Forgets() == want, "%s %s: %+v, %v", host, event, call, err)
		}
	}
	for _, in := range []string{"", "[]", `{"cwd":"/p"}`, `{"session_id":"s","cwd":"p"}`} {
		if call, err := capture.Parse("codex", "stop", []byte(in)); err == nil {
			t.Errorf("%q: %+v", in, call)
		}
	}
	if call, err := capture.Parse("claude-code", "stop", []byte(`{"sessionId":"s","transcript_path":"/t"}`)); err != nil ||
		call.Transcript != "" {
		t.Errorf("%+v, %v", call, err)
	}
	for session, want := range map[string]string{
		"0c0c-1": filepath.FromSlash("/h/.copilot/session-state/0c0c-1/events.jsonl"), "../x": "", "..": "", "a/b": "",
	} {
		call, err := capture.Parse("copilot-cli", "sessionEnd", []byte(`{"sessionId":"`+session+`","cwd":"/p"}`))
		must.OK(t, err)
		if call.At(filepath.FromSlash("/h")); call.Transcript != want {
			t.Errorf("the transcript of %q is %q", session, call.Transcript)
		}
	}
	call, err = capture.Parse("copilot-cli", "agentStop", []byte(`{"sessionId":"s","transcriptPath":"/t"}`))
	must.True(t, err == nil && call.Transcript == "/t" && call.Event == capture.Stop, "%+v, %v", call, err)
	if got := capture.Output(capture.Codex, capture.Stop, "t"); got != nil {
		t.Errorf("stop: %s", got)
	}
	if a, b := capture.SessionName("codex", "a/b"), capture.SessionName("codex", "ab"); a == b ||
		b != "hook/codex/ab" {
		t.Errorf("names %s and %s", a, b)
	}
}

// Package hooks answers the calls of programs that run agents. It records that a transcript has grown, and returns what
// an agent should know when a session begins and with each prompt. A user is waiting, so each call has a time limit,
// and parts that fail are left out.
package hooks

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/agent/capture"
	"github.com/mnem-project/mnem/internal/base/plain"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/internal/rank/stage"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/asking"
	"github.com/mnem-project/mnem/internal/verb/ingesting"
	"github.com/mnem-project/mnem/retrieve"
)

const (
	// OnKey is the setting that turns hooks on and off; PrivateKey stops them from recording anything.
	OnKey      = "hooks"
	PrivateKey = "private"
	// wait is how long a hook waits for another process to let go of the repository.
	wait = 50 * time.Millisecond
	// mostItems and mostTokens bound what an agent is given with a prompt.
	mostItems  = 2
	mostTokens = 250
	// asked is the number of items to ask for. Some of them were shown before or repeat the prompt itself.
	asked = 16
	// mostSentences is how many sentences of a prompt are asked about.
	mostSentences = 4
	// mostOf is how much of a statement, of 65,536, the first item of an unsure answer accounts for if it is given.
	mostOf = 42_598
	// maxQuery is how much of a prompt is looked for, in bytes: what comes after it was pasted.
	maxQuery = 2000
	// maxWhy is how much is noted of why nothing could be asked, in characters.
	maxWhy = 200
)

// Environment is the program that a hook runs in.
type Environment struct {
	// Ask runs a verb on the repository in a directory, and waits for another process for at most wait.
	Ask func(ctx context.Context, dir string, v *verb.Spec, req any, wait time.Duration, emit func(any) error) error
	// Find returns the directory of the repository for a call from a directory; "" stands for the host's working
	// directory. Own returns that of the user's own repository if it is asked too, else "".
	Find func(from string) (string, error)
	Own  func() string
	// Configured returns a setting.
	Configured func(key string) (string, error)
	Getenv     func(name string) string
	Home       string
	Now        func() graph.Time
	// Within is how long an answer may take in all.
	Within time.Duration
}

// Call answers a call of an agent's program. The result must be printed even if there is an error.
func (h *Environment) Call(ctx context.Context, program, event string, in io.Reader) (said string, err error) {
	limit := capture.MaxInput(program)
	data, err := io.ReadAll(io.LimitReader(in, limit+1))
	if err != nil {
		return "", err
	}
	if int64(len(data)) > limit {
		return "", fmt.Errorf("%w: more than %d bytes", capture.ErrInput, limit)
	}
	call, err := capture.Parse(program, event, data)
	if err != nil {
		return "", err
	}
	dir, err := h.Find(call.Dir)
	if err != nil {
		return "", err
	}
	if on, err := h.Configured(OnKey); err != nil || on == "false" {
		return "", err
	}
	spool := filepath.Join(dir, core.DirName)
	private, err := h.private(spool, call)
	if err != nil {
		return "", err
	}
	if !private {
		err = h.noteCall(ctx, dir, call)
	}
	tell := map[capture.Event]func(context.Context, string, *telling) error{
		capture.SessionStart: h.sessionBrief, capture.Prompt: h.known,
	}[call.Event]
	if call.Forgets() {
		err = errors.Join(err, capture.ForgetShown(spool, call))
	}
	if tell == nil {
		return "", err
	}
	t := &telling{call: call, private: private}
	if err = tell(ctx, dir, t); err != nil {
		t.text, t.items = "", nil
	}
	t.text = text.EscapeTags(t.text) // programs put it among their own tags
	// The answer is returned even if recording it fails, unless the repository is read-only: then the text would tell
	// the agent to store things in it.
	if t.asked {
		if noted := h.noteTold(ctx, spool, t, err); errors.Is(noted, fs.ErrPermission) || errors.Is(noted, syscall.EROFS) {
			t.text = ""
		}
	}
	return string(capture.Output(call.Host, call.Event, t.text)), err
}

// private reports whether a session must not be recorded. If the configuration or the environment says so, the session
// stays private from now on.
func (h *Environment) private(spool string, call *capture.Call) (bool, error) {
	on, err := h.Configured(PrivateKey)
	if err != nil {
		return true, err
	}
	if on == "true" || on == "1" {
		return true, capture.MarkPrivate(spool, call)
	}
	return capture.Private(spool, call)
}

func (h *Environment) noteCall(ctx context.Context, dir string, call *capture.Call) error {
	var e *capture.SpoolEntry
	var err error
	if call.Talk != nil {
		e, err = capture.NoteTalk(filepath.Join(dir, core.DirName), call)
	} else {
		call.At(h.Home)
		e, err = capture.EntryOf(call, h.Home, h.Getenv("CLAUDE_CONFIG_DIR"), h.Getenv("CODEX_HOME"), dir)
	}
	if err != nil {
		return err
	}
	anew := call.Event != capture.SessionStart && call.Event != capture.Prompt
	return capture.Note(ctx, filepath.Join(dir, core.DirName), e, anew)
}

type telling struct {
	call    *capture.Call
	private bool // whether nothing may be noted
	asked   bool // whether the memory was asked
	answer  *asking.Answer
	items   []asking.AnswerItem // of the answer, that are given
	text    string              // "" for nothing
}

func (t *telling) noteShown(spool string, shown []graph.ID) error {
	if t.private {
		return nil
	}
	return capture.NoteShown(spool, t.call, shown)
}

func (t *telling) give(item asking.AnswerItem) {
	t.items = append(t.items, item)
	t.text += item.Rendered
}

// noteTold records what an agent is given, or why it is given nothing. In a private session it only checks whether it
// could.
func (h *Environment) noteTold(ctx context.Context, spool string, t *telling, why error) error {
	if t.private {
		return capture.Writable(spool)
	}
	told := &capture.Told{Time: h.Now(), Host: t.call.Host, Session: t.call.Session, Event: t.call.Event}
	if t.answer != nil {
		told.Commit = t.answer.Commit
	}
	if why != nil {
		told.Why = plain.Brief(why.Error(), maxWhy)
	}
	if t.text != "" {
		told.Text = fmt.Sprintf("%x", sha256.Sum256([]byte(t.text)))
	}
	for _, item := range t.items {
		told.Items, told.Tokens = append(told.Items, item.ID), told.Tokens+item.Tokens
	}
	if len(t.items) > 0 && t.answer.Draft != nil {
		told.Draft, told.Receipt = t.answer.Draft, t.answer.Draft.CID()
	}
	return capture.NoteTold(ctx, spool, told)
}

// known adds the items that surely apply to a prompt.
func (h *Environment) known(ctx context.Context, dir string, t *telling) error {
	query := unquoted(strings.ToValidUTF8(t.call.Prompt[:min(len(t.call.Prompt), maxQuery)], ""))
	if strings.TrimSpace(query) == "" || strings.HasPrefix(query, "/") { // a command of the program
		return nil
	}
	spool := filepath.Join(dir, core.DirName)
	query, _, err := ingesting.Redactor(spool).RedactSaid(query) // receipts have it
	if err != nil {
		return err
	}
	words := capture.WordsOf(query)
	shown, err := capture.Shown(spool, t.call)
	if err != nil {
		return err
	}
	t.asked = true
	ctx, stop := context.WithTimeout(ctx, h.Within)
	defer stop()
	if t.answer, err = h.surest(ctx, dir, query, words); err != nil {
		return err
	}
	items, tokens := relevant(t.answer, words), 0
	if own := h.Own(); own != "" {
		if more, err := h.surest(ctx, own, query, words); err == nil { // on an error the project's items are given alone
			items = slices.Concat(items, relevant(more, words))
		}
	}
	for _, item := range items {
		if slices.Contains(shown, item.ID) || len(t.items) == mostItems || tokens+item.Tokens > mostTokens {
			continue
		}
		shown, tokens = append(shown, item.ID), tokens+item.Tokens
		t.give(item)
	}
	if len(t.items) == 0 {
		return nil
	}
	t.text = origin + t.text
	return t.noteShown(spool, shown) // else it would be said with every prompt
}

// surest asks each of the first sentences of a prompt separately, since one of them may match a memory whatever the
// rest says. It returns the answer that covers the most of its sentence; a known answer goes before others. If no
// answer has relevant items it returns the first.
func (h *Environment) surest(ctx context.Context, dir, prompt string, words capture.Words) (best *asking.Answer, err error) {
	for _, sentence := range sentencesOf(prompt) {
		a, err := h.answered(ctx, dir, map[string]any{
			"query": sentence, "limit": asked, "floor": retrieve.FloorMaybe, "explain": true,
		})
		if err != nil && best != nil { // no time is left
			return best, nil
		}
		if err != nil {
			return nil, err
		}
		switch {
		case best == nil:
			best = a
		case len(relevant(a, words)) == 0:
		case len(relevant(best, words)) == 0, a.Verdict.Surer(best.Verdict), a.Verdict == best.Verdict && a.Covered > best.Covered:
			best = a
		}
	}
	return best, nil
}

// relevant returns the items of an answer that an agent is given unasked: all of a known answer; otherwise only the
// first, if it covers most of a statement. That is typical of a memory which the statement corrects.
func relevant(a *asking.Answer, words capture.Words) (list []asking.AnswerItem) {
	corrects := a.Verdict == retrieve.Unsure && a.Covered >= mostOf && !stage.IsQuestion(text.English, a.Query)
	for i, item := range a.Items {
		sure := item.Band == retrieve.BandAnswer || i == 0 && corrects
		if sure && !source.IsSaid(item.Type) && words.Bear(termsOf(item)) {
			list = append(list, item)
		}
	}
	return list
}

// unquoted returns a prompt without enclosing quotes, which OpenCode adds to a prompt from its command line.
func unquoted(prompt string) string {
	inner, open := strings.CutPrefix(strings.TrimSpace(prompt), `"`)
	inner, shut := strings.CutSuffix(inner, `"`)
	if open && shut && !strings.Contains(inner, `"`) {
		return inner
	}
	return prompt
}

func sentencesOf(prompt string) (list []string) {
	text.EachSentence(prompt, maxQuery, func(s text.Sentence) bool {
		if part := strings.TrimSpace(prompt[s.Start:s.End]); part != "" {
			list = append(list, part)
		}
		return len(list) < mostSentences
	})
	return list
}

func termsOf(item asking.AnswerItem) (terms []string) {
	if item.ItemWhy == nil {
		return nil
	}
	for _, t := range item.Terms {
		if !t.Added {
			terms = append(terms, t.Term)
		}
	}
	return terms
}

func (h *Environment) answered(ctx context.Context, dir string, params map[string]any) (out *asking.Answer, err error) {
	err = h.askFor(ctx, dir, &asking.Recall.Spec, params, func(answer any) { out = answer.(*asking.Answer) })
	return out, err
}

// askFor asks for an answer, with its receipt, that must come in time.
func (h *Environment) askFor(
	ctx context.Context, dir string, spec *verb.Spec, params map[string]any, take func(answer any),
) error {
	data, err := json.Marshal(params)
	if err != nil {
		return err
	}
	req, err := spec.DecodeRequest(data, slices.Sorted(maps.Keys(params)))
	if err != nil {
		return err
	}
	switch q := req.(type) {
	case *asking.RecallRequest:
		q.Draft = true
	case *asking.BriefRequest:
		q.Draft = true
	}
	ctx, stop := context.WithTimeout(ctx, h.Within)
	defer stop()
	answered := false
	err = h.Ask(ctx, dir, spec, req, wait, func(answer any) error {
		take(answer)
		answered = true
		return nil
	})
	if err == nil && !answered {
		err = errors.New("no answer")
	}
	return err
}

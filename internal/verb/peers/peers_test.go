package peers

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/keyring"
	"github.com/mnem-project/mnem/internal/owner"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/branching"
	"github.com/mnem-project/mnem/internal/verb/editing"
	"github.com/mnem-project/mnem/internal/verb/ingesting"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

const now = "2026-03-01T00:00:00Z"

// answering opens a new repository and answers others.
func answering(t *testing.T, opt HostOptions) (dir string, r *core.Repo, o *Owner) {
	t.Helper()
	dir = t.TempDir()
	at, err := graph.ParseTime(now)
	must.OK(t, err)
	r, err = care.Init(t.Context(), dir, state.Stamp{Author: "Tess", Time: at, Command: []string{"init"}}, core.Options{})
	must.OK(t, err)
	room, err := os.MkdirTemp("", "m")
	must.OK(t, err)
	opt.PID, opt.Temp = os.Getpid(), room
	if o, err = Answer(dir, r, opt); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		must.OK(t, errors.Join(o.Close(time.Second), r.Close(), os.RemoveAll(room)))
	})
	return dir, r, o
}

// askerOf returns what asks for a verb, and returns its answers as JSON. No answer is read for people.
func askerOf(t *testing.T, dir string, by Caller) func(v *verb.Spec, req any, call Call) (string, error) {
	return func(v *verb.Spec, req any, call Call) (string, error) {
		t.Helper()
		who := must.Get(core.ReadOwner(dir))(t)
		client, err := owner.Dial(who.Socket, filepath.Join(dir, core.DirName), "v2", who.PID, time.Minute)
		must.OK(t, err)
		defer func() { _ = client.Close() }()
		if call.Request, err = v.EncodeRequest(req); err != nil {
			t.Fatal(err)
		}
		call.Verb, call.Given, call.Words = v.Name(), verb.GivenOf(req), strings.Fields(v.Command)
		call.Caller.Author, call.Caller.Time = "Ada", now
		var out bytes.Buffer
		if !call.Typed {
			by.Read = func(r io.Reader) error {
				_, err := out.ReadFrom(r)
				return err
			}
		}
		err = Ask(t.Context(), client, &call, &by)
		return out.String(), err
	}
}

func newShow(t *testing.T, node string) *branching.ShowRequest {
	t.Helper()
	req := must.Get(branching.Show.New())(t)
	get := req.(*branching.ShowRequest)
	get.Name = node
	return get
}

func lines(text string) Caller {
	return Caller{Input: func(int) (io.Reader, error) { return strings.NewReader(text), nil }, Tell: func(*ProgressMessage) {}}
}

const alice = `{"node":{"key":"alice","type":"Person","summary":"Alice leads infra"}}`

// TestAnswer has a program that only has a repository open answer others: for reading and for writing.
func TestAnswer(t *testing.T) {
	dir, r, o := answering(t, HostOptions{Build: "v1"})
	ask := askerOf(t, dir, lines(alice))
	out, err := ask(&editing.CommitVerb.Spec, &editing.CommitRequest{Message: "first"}, Call{Inputs: []string{"a.jsonl"}})
	must.OK(t, err, out)
	must.Contain(t, out, `"added":1`, err)
	out, err = ask(&branching.Show.Spec, newShow(t, "alice"), Call{})
	must.True(t, err == nil && strings.Contains(out, `"summary":"Alice leads infra"`), "%s, %v", out, err)
	for e, err := range r.OpLog().All(t.Context()) {
		if err != nil || e.Operation.Actor != "Ada" || !slices.Equal(e.Operation.Command, []string{"commit"}) {
			t.Errorf("%+v, %v", e.Operation, err)
		}
		break
	}
	_, err = ask(&branching.Show.Spec, newShow(t, "bob"), Call{})
	if verb.OutcomeOf(t.Context(), err) != operation.NotFound || !strings.Contains(verb.HintOf(err, false), "'mnem ls'") {
		t.Errorf("%v, %s", err, verb.HintOf(err, false))
	}
	_, err = ask(&branching.Show.Spec, newShow(t, "bob"), Call{Caller: operation.Caller{Remote: true}})
	if strings.Contains(verb.HintOf(err, false), "mnem") {
		t.Errorf("a remote caller gets commands: %s", verb.HintOf(err, false))
	}
	bad := lines(alice + "\n{")
	_, err = askerOf(t, dir, bad)(&editing.CommitVerb.Spec, &editing.CommitRequest{Message: "x"}, Call{Inputs: []string{"b.jsonl"}})
	must.True(t, err != nil && strings.Contains(err.Error(), "b.jsonl:2"), "%v", err)
	must.True(t, o.Socket() != "", "no socket")
}

// olderShow is the request of an older build: it has no field importance.
type olderShow struct {
	Name string `op:",arg,remote"`
	verb.AtRevision
}

// TestTwoBuilds has a caller of a later build than the owner, which has a verb and a field less.
func TestTwoBuilds(t *testing.T) {
	dir, _, o := answering(t, HostOptions{Build: "v1"})
	older := verb.Define(verb.Spec{Command: "show", Effect: verb.Reads},
		func(_ context.Context, _ *verb.Service, q *olderShow) (*branching.Gone, error) {
			return &branching.Gone{Removed: q.Name + " at " + q.At}, nil
		})
	o.find = func(name string) *verb.Spec {
		if name == "show" {
			return &older.Spec
		}
		return nil
	}
	ask := askerOf(t, dir, lines(""))
	get := newShow(t, "alice")
	if out, err := ask(&branching.Show.Spec, get, Call{}); err != nil || !strings.Contains(out, "alice at HEAD") {
		t.Errorf("%s, %v", out, err)
	}
	get.Importance = true
	_, err := ask(&branching.Show.Spec, get, Call{})
	if verb.OutcomeOf(t.Context(), err) != operation.Busy || !strings.Contains(err.Error(), "mnem v1 does not know importance of show") ||
		!strings.Contains(verb.HintOf(err, false), "leave out importance") {
		t.Errorf("%v, %s", err, verb.HintOf(err, false))
	}
	_, err = ask(&branching.Blame.Spec, &branching.BlameRequest{Node: "alice"}, Call{})
	if err == nil || !strings.Contains(err.Error(), "does not know the verb blame") ||
		!strings.Contains(verb.HintOf(err, false), fmt.Sprintf("stop process %d", os.Getpid())) {
		t.Errorf("%v, %s", err, verb.HintOf(err, false))
	}
}

// newSecret makes a key.
func newSecret(t *testing.T) commit.Secret {
	t.Helper()
	secret := must.Get(commit.NewSecret(rand.Reader))(t)
	return secret
}

// person is a change line.
func person(key string) string { return fmt.Sprintf(`{"node":{"key":%q,"type":"Person"}}`, key) }

// commits asks for a commit of one node, signed by what is known.
func commits(t *testing.T, dir, key string, sign *verb.Signatures) error {
	t.Helper()
	_, err := askerOf(t, dir, lines(person(key)))(&editing.CommitVerb.Spec, &editing.CommitRequest{Message: key},
		Call{Inputs: []string{"a"}, Sign: sign})
	return err
}

// unsigned returns the only record that lacks a signature.
func unsigned(t *testing.T, err error) (record []byte, turn string) {
	t.Helper()
	var lacks *state.UnsignedError
	must.Require(t, errors.As(err, &lacks) && len(lacks.Records) == 1, "%v, want one record to be signed", err)
	return lacks.Records[0], lacks.Turn
}

func operations(t *testing.T, r *core.Repo) (n int) {
	t.Helper()
	for _, err := range r.OpLog().All(t.Context()) {
		if n++; err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// TestSigning has a run return the record of a commit and write nothing, and the next one write what the caller signed.
func TestSigning(t *testing.T) {
	dir, r, _ := answering(t, HostOptions{Build: "v1"})
	secret := newSecret(t)
	trust := &keyring.TrustList{}
	must.OK(t, trust.Add(secret.Key(), "ada", "", 1))
	list := must.Get(trust.Encode())(t)
	sign := &verb.Signatures{Made: state.Signatures{}}
	record, turn := unsigned(t, commits(t, dir, "alice", sign))
	if again, _ := unsigned(t, commits(t, dir, "alice", sign)); turn != "" || !bytes.Equal(record, again) {
		t.Errorf("turn %q; the records of two runs differ: %t", turn, !bytes.Equal(record, again))
	}
	forged, _ := newSecret(t).Sign([]byte("another record"))
	sign.Made.Add(record, forged)
	if err := commits(t, dir, "alice", sign); err == nil || !strings.Contains(err.Error(), "bad signature") {
		t.Errorf("a signature of something else: %v", err)
	}
	must.Equal(t, operations(t, r), 1, "operations, nothing was signed")
	signed := must.Get(secret.Sign(record))(t)
	sign.Made.Add(record, signed)
	must.OK(t, commits(t, dir, "alice", sign))
	out, err := askerOf(t, dir, lines(""))(&branching.Verify.Spec, &branching.VerifyRequest{}, Call{Trusted: list})
	if err != nil || !strings.Contains(out, `"signature":"signed"`) || !strings.Contains(out, `"name":"ada"`) {
		t.Errorf("%s, %v", out, err)
	}
	// A commit that a key has signed is only taken off its branch by who has that key.
	agent := Call{Caller: operation.Caller{Agent: "bot"}}
	force := &branching.UndoRequest{}
	if _, err := askerOf(t, dir, lines(""))(&branching.Undo.Spec, force, agent); verb.OutcomeOf(t.Context(), err) != operation.Refused {
		t.Errorf("%v", err)
	}
	agent.Key = secret.Key().String()
	must.OK(t, must.Err(askerOf(t, dir, lines(""))(&branching.Undo.Spec, force, agent)))
}

// TestSignersDoNotStarve has another writer be first: then the next run keeps the turn for its signature, and writers
// that come later are after it. An unused turn ends by itself.
func TestSignersDoNotStarve(t *testing.T) {
	dir, r, o := answering(t, HostOptions{Build: "v1"})
	secret := newSecret(t)
	sign := &verb.Signatures{Made: state.Signatures{}}
	take := func(err error) {
		t.Helper()
		record, turn := unsigned(t, err)
		signed := must.Get(secret.Sign(record))(t)
		sign.Made.Add(record, signed)
		sign.Again, sign.Turn = true, turn
	}
	later := func(key string) chan error {
		done := make(chan error, 1)
		go func() { done <- commits(t, dir, key, nil) }()
		for {
			r.Writer.Turns.Mu.Lock()
			n := r.Writer.Turns.Waiting.Len()
			r.Writer.Turns.Mu.Unlock()
			if n > 0 {
				return done
			}
			time.Sleep(time.Millisecond)
		}
	}
	take(commits(t, dir, "alice", sign))
	must.OK(t, commits(t, dir, "bob", nil))
	take(commits(t, dir, "alice", sign))
	must.Require(t, sign.Turn != "", "no turn is kept")
	done := later("carol")
	must.OK(t, commits(t, dir, "alice", sign), "in the turn that was kept")
	must.OK(t, <-done)
	var order []string
	for e, err := range history.Log(t.Context(), r, "HEAD") {
		must.OK(t, err)
		order = append(order, e.Message)
	}
	must.Equal(t, strings.Join(order, " "), "carol alice bob", "the log")
	take(commits(t, dir, "dora", sign))
	must.OK(t, <-later("emil"), "after the lease")
	take(commits(t, dir, "dora", sign)) // its turn has ended, and its record is another
	must.OK(t, commits(t, dir, "dora", sign))
	if err := commits(t, dir, "finn", &verb.Signatures{Again: true, Turn: "x"}); err == nil {
		t.Error("an unsigned commit is written")
	}
	must.OK(t, commits(t, dir, "gwen", nil))
	o.turns.mu.Lock()
	defer o.turns.mu.Unlock()
	must.True(t, len(o.turns.named) <= 1, "%d turns are kept", len(o.turns.named))
}

// TestWritersDoNotWaitForInput has callers who send their input only when another caller has written.
func TestWritersDoNotWaitForInput(t *testing.T) {
	dir, r, _ := answering(t, HostOptions{Build: "v1"})
	for _, tt := range []struct {
		spec *verb.Spec
		req  any
		text string
	}{
		{&editing.CommitVerb.Spec, &editing.CommitRequest{Message: "x"}, alice},
		{&ingesting.Ingest.Spec, &ingesting.IngestRequest{Paths: []string{"-"}, Name: "a.md"}, "# Title\n\nSome text.\n"},
		{&ingesting.Ingest.Spec, &ingesting.IngestRequest{Paths: []string{"-"}, From: "server-memory"},
			`{"type":"entity","name":"Ada","entityType":"person","observations":["leads infra"]}` + "\n"},
	} {
		before := operations(t, r)
		by := lines("")
		by.Input = func(int) (io.Reader, error) {
			if err := commits(t, dir, fmt.Sprint("meanwhile", before), nil); err != nil {
				t.Error(err)
			}
			return strings.NewReader(tt.text), nil
		}
		must.OK(t, must.Err(askerOf(t, dir, by)(tt.spec, tt.req, Call{Inputs: []string{"-"}})), tt.spec.Command)
		if n := operations(t, r); n != before+2 {
			t.Errorf("%s: %d operations", tt.spec.Command, n-before)
		}
	}
}

// TestElsewhere asks an owner that no longer has the repository.
func TestElsewhere(t *testing.T) {
	dir, _, _ := answering(t, HostOptions{Use: func() (*core.Repo, func(error)) { return nil, nil }})
	_, err := askerOf(t, dir, lines(""))(&branching.StatusVerb.Spec, &branching.StatusRequest{}, Call{})
	var lost *owner.LostError
	must.True(t, errors.As(err, &lost) && lost.Clean, "%v", err)
}

// TestEndless has the owner end while a watch runs: that is broken off at once, and what was told stays told.
func TestEndless(t *testing.T) {
	dir, _, o := answering(t, HostOptions{Build: "v1"})
	told, ended := make(chan any, 10), make(chan error, 1)
	req := &branching.WatchRequest{WatchOptions: history.WatchOptions{Since: "0"}}
	by := lines("")
	by.Read = func(r io.Reader) error {
		return branching.Watch.ReadAnswers(r, func(answer any) error {
			must.True(t, req.Answered(answer), "it has an end")
			told <- answer
			return nil
		})
	}
	go func() {
		_, err := askerOf(t, dir, by)(&branching.Watch.Spec, &branching.WatchRequest{WatchOptions: history.WatchOptions{Since: "0"}}, Call{Typed: true})
		ended <- err
	}()
	if _, ok := (<-told).(*branching.Watched); !ok {
		t.Error("the first operation is not told")
	}
	begin := time.Now()
	must.OK(t, o.Close(time.Minute))
	var lost *owner.LostError
	if err := <-ended; !errors.As(err, &lost) || lost.Writes || time.Since(begin) > 30*time.Second {
		t.Errorf("%v after %v", err, time.Since(begin))
	}
	must.True(t, req.Since != "0", "the rest of the watch begins where all of it did")
}

// TestLongMessage cuts what a frame does not take.
func TestLongMessage(t *testing.T) {
	data := resultOf(t.Context(), errors.New(strings.Repeat("x", 1<<20)), false)
	must.True(t, len(data) <= maxMessage && bytes.Contains(data, []byte("…")), "%d bytes", len(data))
}

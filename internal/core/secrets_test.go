package core_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/exchange"
	"github.com/mnem-project/mnem/internal/merging"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
)

// refusedAt fails the test unless an error refuses a credential at a place.
func refusedAt(t *testing.T, err error, place string, rules ...string) {
	t.Helper()
	var secret *state.SecretError
	if !errors.As(err, &secret) || !errors.Is(err, state.ErrSecret) || errors.Is(err, graph.ErrInvalid) ||
		!strings.HasPrefix(err.Error(), place+": ") || !slices.Equal(secret.Rules, rules) {
		t.Errorf("%v, want %s refused by %v", err, place, rules)
	}
	must.Check(t, err == nil || !strings.Contains(err.Error(), repokit.AwsKey),
		"the error shows the credential: %v", err)
}

// TestSecretsAreRefused names every credential of a text, also one beyond its first chunk, and lets its node be removed.
func TestSecretsAreRefused(t *testing.T) {
	r := repokit.OpenMem(t)
	repokit.Lines(t, r, `{"node":{"key":"a","type":"N"}}`)
	chunked := strings.Repeat("word ", (ipld.ChunkSize-10)/5) + repokit.AwsKey + strings.Repeat(" word", 100)
	_, err := repokit.TryLines(r, `{"node":{"key":"a","content":"`+chunked+`"}}`)
	refusedAt(t, err, "test.jsonl:1: node.content", "aws-access-token")
	_, err = repokit.TryLines(r, `{"node":{"type":"N","summary":"`+repokit.Doubted+`"}}`+"\n"+
		`{"node":{"type":"N","summary":"`+repokit.AwsKey+` glpat-`+"a1B2c3D4e5F6g7H8i9J0"+`"}}`)
	refusedAt(t, err, "test.jsonl:2: node.summary", "aws-access-token", "gitlab-pat")
	must.Equal(t, must.Get(repokit.TryLines(r, `{"remove":{"node":"a"}}`))(t).Nodes.Removed, 1)
}

// allowing returns by with options about credentials.
func allowing(o state.SecretOptions) state.Stamp {
	by := repokit.By
	by.Secrets = o
	return by
}

func TestSecretsAllowedAndReported(t *testing.T) {
	r := repokit.OpenMem(t)
	text := `{"node":{"key":"a","type":"N","summary":"` + repokit.AwsKey + `"}}` + "\n" +
		`{"node":{"key":"b","type":"N","summary":"` + repokit.Doubted + `"}}`
	commit := func(text string, o state.SecretOptions) (*core.CommitResult, error) {
		return r.Commit(t.Context(), state.ReadChanges(strings.NewReader(text), "x.jsonl"),
			core.CommitOptions{Stamp: allowing(o), Message: "m"})
	}
	_, err := commit(text, state.SecretOptions{Allow: []string{"github-pat"}})
	refusedAt(t, err, "x.jsonl:1: node.summary", "aws-access-token")
	res := must.Get(commit(text, state.SecretOptions{Allow: []string{"aws-access-token"}}))(t)
	want := state.SecretFinding{Rule: "generic-api-key", Field: "node.summary", File: "x.jsonl", Line: 2}
	if f := res.Secrets.Findings; len(f) != 1 || f[0] != want {
		t.Errorf("%+v", f)
	}

	var bulk strings.Builder
	for i := range state.BulkChanges {
		fmt.Fprintf(&bulk, `{"node":{"key":"n%d","type":"N","summary":"%s"}}`+"\n", i,
			strings.Repeat(repokit.AwsKey, i&1))
	}
	_, err = commit(bulk.String(), state.SecretOptions{})
	refusedAt(t, err, "x.jsonl:2: node.summary", "aws-access-token")
	bulk.WriteString(`{"node":{"key":"more","type":"N"}}`)
	_, err = commit(bulk.String(), state.SecretOptions{Strict: true})
	refusedAt(t, err, "x.jsonl:2: node.summary", "aws-access-token")
	var secret *state.SecretError
	must.Check(t, errors.As(err, &secret) && secret.Bulk, "%+v does not say that it is of Strict", secret)
	res, err = commit(bulk.String(), state.SecretOptions{})
	must.Check(t, err == nil && len(res.Secrets.Findings) == 100 && res.Secrets.More == state.BulkChanges/2-100,
		"%+v, %v", res, err)
}

// TestSecretsThatComeIn sees to it that merges and imports keep their bytes, and report.
func TestSecretsThatComeIn(t *testing.T) {
	r := repokit.OpenMem(t)
	repokit.Lines(t, r, `{"node":{"key":"a","type":"N"}}`+"\n"+`{"node":{"key":"b","type":"N"}}`)
	base := repokit.Head(t, r).CID()
	repokit.Fork(t, r, "other", base)
	text := `{"node":{"key":"s","type":"N","summary":"` + repokit.AwsKey + `"}}
{"edge":{"type":"t","src":"a","dst":"b","props":{"p":"` + repokit.AwsKey + `"}}}
{"mark":{"node":"a","state":"stale","reason":"` + repokit.AwsKey + `"}}
{"node":{"key":"long","type":"N","content":"` + strings.Repeat("word ", 70_000) + repokit.AwsKey + `"}}`
	stamp := allowing(state.SecretOptions{Allow: []string{"aws-access-token"}})
	must.Get(r.Commit(t.Context(), state.ReadChanges(strings.NewReader(text), ""),
		core.CommitOptions{Stamp: stamp, Message: "m", Branch: "other"}))(t)
	fields := func(report state.SecretReport) string {
		var out []string
		for _, f := range report.Findings {
			out = append(out, f.Field)
			must.Check(t, f.Rule == "aws-access-token" && f.Item != "" && f.Line == 0, "%+v", f)
		}
		slices.Sort(out)
		return strings.Join(out, " ")
	}
	const all = "edge.props.p mark.reason node.content node.summary"
	repokit.Fork(t, r, "third", base)
	forward := repokit.Options("third")
	res, err := merging.Merge(t.Context(), r, "other", forward)
	must.Check(t, err == nil && res.FastForward && fields(res.Secrets) == all, "%+v, %v", res, err)
	repokit.Lines(t, r, `{"node":{"key":"mine","type":"N"}}`)
	res, err = merging.Merge(t.Context(), r, "other", repokit.Options(""))
	must.Check(t, err == nil && !res.FastForward && fields(res.Secrets) == all, "%+v, %v", res, err)

	file, _ := repokit.Export(t, r, exchange.ExportOptions{All: true})
	to := repokit.OpenMem(t)
	for _, dry := range []bool{true, false} {
		in := must.Get(repokit.TryImport(to, file, exchange.ImportOptions{Stamp: repokit.By, DryRun: dry}))(t)
		must.Equal(t, fields(in.Secrets), "edge.props.p mark.reason node.summary text", "dry ", dry)
	}
	if again, err := repokit.TryImport(to, file, exchange.ImportOptions{Stamp: repokit.By}); err != nil ||
		len(again.Secrets.Findings) != 0 {
		t.Errorf("again: %+v, %v", again, err)
	}
}

// TestSecretsResolve refuses a credential in lines that resolve a conflict.
func TestSecretsResolve(t *testing.T) {
	r, _, _ := repokit.Conflicted(t)
	_, err := merging.ResolveConflict(t.Context(), r, "a", repokit.Changes(`{"node":{"key":"a","summary":"`+repokit.AwsKey+`"}}`),
		repokit.Options("").CommitOptions)
	refusedAt(t, err, "fix:1: node.summary", "aws-access-token")
}

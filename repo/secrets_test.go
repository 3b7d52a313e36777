package repo_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/guard"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/store/mem"
)

// Credentials are put together here, so that the source has none.
var (
	awsKey  = "AKIA" + "Q4WK2ZBR7DNX5TFM"
	doubted = "api_key = k3J8s9Dk" + "2Lq0Zx7Vb5Nm1Qw4" // reported, not refused
)

// refusedAt fails the test unless an error refuses a credential at a place.
func refusedAt(t *testing.T, err error, place string, rules ...string) {
	t.Helper()
	var secret *repo.SecretError
	if !errors.As(err, &secret) || !errors.Is(err, repo.ErrSecret) || errors.Is(err, graph.ErrInvalid) ||
		!strings.HasPrefix(err.Error(), place+": ") || !slices.Equal(secret.Rules, rules) {
		t.Errorf("%v, want %s refused by %v", err, place, rules)
	}
	if err != nil && strings.Contains(err.Error(), awsKey) {
		t.Error("the error shows the credential:", err)
	}
}

// TestSecretsAreRefused puts a credential into each text of a change.
func TestSecretsAreRefused(t *testing.T) {
	r := openMem(t)
	lines(t, r, `{"node":{"key":"a","type":"N"}}`+"\n"+`{"node":{"key":"b","type":"N"}}`)
	before := head(t, r).CID()
	chunked := strings.Repeat("word ", (ipld.ChunkSize-10)/5) + awsKey + strings.Repeat(" word", 100)
	for _, c := range []struct{ field, line string }{
		{"node.key", `{"node":{"key":"%s","type":"N"}}`},
		{"node.type", `{"node":{"type":"%s"}}`},
		{"node.summary", `{"node":{"type":"N","summary":"uses %s"}}`},
		{"node.context", `{"node":{"key":"a","context":"uses %s"}}`},
		{"node.content", `{"node":{"key":"a","content":"uses %s"}}`},
		{"node.sources", `{"node":{"key":"a","sources":["url:https://x/%s"]}}`},
		{"node.props.aws", `{"node":{"key":"a","props":{"aws":"%s"}}}`},
		{"node.props.deep", `{"node":{"key":"a","props":{"deep":[{"x":"%s"}]}}}`},
		{"node.props.deep", `{"node":{"key":"a","props":{"deep":{"%s":1}}}}`},
		{"node.props", `{"node":{"key":"a","props":{"%s":"x"}}}`},
		{"edge.type", `{"edge":{"src":"a","dst":"b","type":"%s"}}`},
		{"edge.key", `{"edge":{"src":"a","dst":"b","type":"t","key":"%s"}}`},
		{"edge.props.p", `{"edge":{"src":"a","dst":"b","type":"t","props":{"p":"%s"}}}`},
		{"edge.sources", `{"edge":{"src":"a","dst":"b","type":"t","sources":["%s"]}}`},
		{"mark.reason", `{"mark":{"node":"a","state":"stale","reason":"leaked %s"}}`},
	} {
		text := `{"node":{"key":"c","type":"N"}}` + "\n" + fmt.Sprintf(c.line, awsKey)
		_, err := tryLines(r, text)
		refusedAt(t, err, "test.jsonl:2: "+c.field, "aws-access-token")
	}
	_, err := tryLines(r, `{"node":{"key":"a","content":"`+chunked+`"}}`)
	refusedAt(t, err, "test.jsonl:1: node.content", "aws-access-token")
	if now := head(t, r).CID(); now != before {
		t.Error("something was written")
	}
	_, err = tryLines(r, `{"node":{"type":"N","summary":"`+doubted+`"}}`+"\n"+
		`{"node":{"type":"N","summary":"`+awsKey+` glpat-`+"a1B2c3D4e5F6g7H8i9J0"+`"}}`)
	refusedAt(t, err, "test.jsonl:2: node.summary", "aws-access-token", "gitlab-pat")
	if res, err := tryLines(r, `{"remove":{"node":"a"}}`); err != nil || res.Nodes.Removed != 1 {
		t.Error(res, err)
	}
}

// allowing returns by with options about credentials.
func allowing(o repo.SecretOptions) repo.Stamp {
	by := by
	by.Secrets = o
	return by
}

func TestSecretsAllowedAndReported(t *testing.T) {
	r := openMem(t)
	text := `{"node":{"key":"a","type":"N","summary":"` + awsKey + `"}}` + "\n" +
		`{"node":{"key":"b","type":"N","summary":"` + doubted + `"}}`
	commit := func(text string, o repo.SecretOptions) (*repo.CommitResult, error) {
		return r.Commit(t.Context(), repo.ReadChanges(strings.NewReader(text), "x.jsonl"),
			repo.CommitOptions{Stamp: allowing(o), Message: "m"})
	}
	_, err := commit(text, repo.SecretOptions{Allow: []string{"github-pat"}})
	refusedAt(t, err, "x.jsonl:1: node.summary", "aws-access-token")
	res, err := commit(text, repo.SecretOptions{Allow: []string{"aws-access-token"}})
	if err != nil {
		t.Fatal(err)
	}
	want := repo.SecretFinding{Rule: "generic-api-key", Field: "node.summary", File: "x.jsonl", Line: 2}
	if f := res.Secrets.Findings; len(f) != 1 || f[0] != want {
		t.Errorf("%+v", f)
	}

	var bulk strings.Builder
	for i := range repo.BulkChanges {
		fmt.Fprintf(&bulk, `{"node":{"key":"n%d","type":"N","summary":"%s"}}`+"\n", i,
			strings.Repeat(awsKey, i&1))
	}
	_, err = commit(bulk.String(), repo.SecretOptions{})
	refusedAt(t, err, "x.jsonl:2: node.summary", "aws-access-token")
	bulk.WriteString(`{"node":{"key":"more","type":"N"}}`)
	_, err = commit(bulk.String(), repo.SecretOptions{Strict: true})
	refusedAt(t, err, "x.jsonl:2: node.summary", "aws-access-token")
	var secret *repo.SecretError
	if !errors.As(err, &secret) || !secret.Bulk {
		t.Errorf("%+v does not say that it is of Strict", secret)
	}
	res, err = commit(bulk.String(), repo.SecretOptions{})
	if err != nil || len(res.Secrets.Findings) != 100 || res.Secrets.More != repo.BulkChanges/2-100 {
		t.Errorf("%+v, %v", res, err)
	}
}

// TestSecretsInMessages covers what operations say of themselves.
func TestSecretsInMessages(t *testing.T) {
	r := openMem(t)
	lines(t, r, `{"node":{"key":"a","type":"N"}}`)
	first := head(t, r).CID()
	lines(t, r, `{"node":{"key":"b","type":"N"}}`)
	change := func() repo.Changes {
		return repo.ReadChanges(strings.NewReader(`{"node":{"key":"c","type":"N"}}`), "")
	}
	message := "rotate " + awsKey
	opt := repo.CommitOptions{Stamp: by, Message: message}
	_, err := r.Commit(t.Context(), change(), opt)
	refusedAt(t, err, "message", "aws-access-token")
	task := by
	task.Task = message
	_, err = r.Commit(t.Context(), change(), repo.CommitOptions{Stamp: task})
	refusedAt(t, err, "task", "aws-access-token")
	if _, err := r.StageChanges(t.Context(), change(), repo.StageOptions{Stamp: by}); err != nil {
		t.Fatal(err)
	}
	_, err = r.CommitStaged(t.Context(), "", opt)
	refusedAt(t, err, "message", "aws-access-token")
	_, err = r.Revert(t.Context(), "HEAD", repo.MergeOptions{CommitOptions: opt})
	refusedAt(t, err, "message", "aws-access-token")
	_, err = r.Merge(t.Context(), first.String(), repo.MergeOptions{CommitOptions: opt})
	refusedAt(t, err, "message", "aws-access-token")
	_, err = r.Restore(t.Context(), "HEAD", []string{"a"}, opt)
	refusedAt(t, err, "message", "aws-access-token")
	_, err = r.CreateTag(t.Context(), "v1", "HEAD", repo.TagOptions{
		RefOptions: repo.RefOptions{Stamp: by}, Annotate: true, Message: message,
	})
	refusedAt(t, err, "message", "aws-access-token")
	_, err = r.StageChanges(t.Context(), repo.ReadChanges(strings.NewReader(
		`{"node":{"key":"`+awsKey+`","type":"N"}}`), ""), repo.StageOptions{Stamp: by})
	refusedAt(t, err, "line 1: node.key", "aws-access-token")

	// What was allowed once is quoted by no message that is made of it.
	opt.Stamp = allowing(repo.SecretOptions{Allow: []string{"aws-access-token"}})
	if _, err := r.Commit(t.Context(), change(), opt); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Revert(t.Context(), "HEAD", repo.MergeOptions{
		CommitOptions: repo.CommitOptions{Stamp: by},
	}); err != nil {
		t.Fatal(err)
	}
	m, err := head(t, r).Message(t.Context())
	if err != nil || strings.Contains(m, awsKey) || !strings.Contains(m, "[secret:aws-access-token]") {
		t.Errorf("the message is %q, %v", m, err)
	}
}

// TestSecretsThatComeIn sees to it that merges and imports keep their bytes, and report.
func TestSecretsThatComeIn(t *testing.T) {
	r := openMem(t)
	lines(t, r, `{"node":{"key":"a","type":"N"}}`+"\n"+`{"node":{"key":"b","type":"N"}}`)
	base := head(t, r).CID()
	fork(t, r, "other", base)
	text := `{"node":{"key":"s","type":"N","summary":"` + awsKey + `"}}
{"edge":{"type":"t","src":"a","dst":"b","props":{"p":"` + awsKey + `"}}}
{"mark":{"node":"a","state":"stale","reason":"` + awsKey + `"}}
{"node":{"key":"long","type":"N","content":"` + strings.Repeat("word ", 70_000) + awsKey + `"}}`
	stamp := allowing(repo.SecretOptions{Allow: []string{"aws-access-token"}})
	_, err := r.Commit(t.Context(), repo.ReadChanges(strings.NewReader(text), ""),
		repo.CommitOptions{Stamp: stamp, Message: "m", Branch: "other"})
	if err != nil {
		t.Fatal(err)
	}
	fields := func(report repo.SecretReport) string {
		var out []string
		for _, f := range report.Findings {
			out = append(out, f.Field)
			if f.Rule != "aws-access-token" || f.Item == "" || f.Line != 0 {
				t.Errorf("%+v", f)
			}
		}
		slices.Sort(out)
		return strings.Join(out, " ")
	}
	const all = "edge.props.p mark.reason node.content node.summary"
	fork(t, r, "third", base)
	forward := options("third")
	res, err := r.Merge(t.Context(), "other", forward)
	if err != nil || !res.FastForward || fields(res.Secrets) != all {
		t.Errorf("%+v, %v", res, err)
	}
	lines(t, r, `{"node":{"key":"mine","type":"N"}}`)
	res, err = r.Merge(t.Context(), "other", options(""))
	if err != nil || res.FastForward || fields(res.Secrets) != all {
		t.Errorf("%+v, %v", res, err)
	}

	file, _ := export(t, r, repo.ExportOptions{All: true})
	to := openMem(t)
	for _, dry := range []bool{true, false} {
		in, err := tryImport(to, file, repo.ImportOptions{Stamp: by, DryRun: dry})
		if err != nil {
			t.Fatal(err)
		}
		if got := fields(in.Secrets); got != "edge.props.p mark.reason node.summary text" {
			t.Errorf("dry %t: %s", dry, got)
		}
	}
	if again, err := tryImport(to, file, repo.ImportOptions{Stamp: by}); err != nil ||
		len(again.Secrets.Findings) != 0 {
		t.Errorf("again: %+v, %v", again, err)
	}
}

// TestSecretsResolve refuses a credential in lines that resolve a conflict.
func TestSecretsResolve(t *testing.T) {
	r, _, _ := conflicted(t)
	_, err := r.ResolveConflict(t.Context(), "a", changes(`{"node":{"key":"a","summary":"`+awsKey+`"}}`),
		options("").CommitOptions)
	refusedAt(t, err, "fix:1: node.summary", "aws-access-token")
}

// BenchmarkGuardBulk tells how much of a bulk commit of 10^5 nodes goes into looking for credentials:
// guard alone looks at the changes that commit writes. The texts are prose, or have a hash and the
// name of a file, around which keywords are looked for.
func BenchmarkGuardBulk(b *testing.B) {
	const nodes = 100_000
	texts := map[string]string{
		"prose": "Yesterday Alice moved the billing service from MySQL to PostgreSQL because the old cluster " +
			"ran out of disk. Bob did not agree, and said so in the meeting of the platform team.",
		"names": "Commit 9fceb02d0ae598e95dc970b74767f19372d61af8 changes internal/cli/commands_test.go: " +
			"the token bucket of the key server refills at ten a second, as Bob asked for in the meeting.",
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		var list []graph.Change
		for i := range nodes {
			n := &graph.NodeChange{Key: fmt.Sprintf("node/%d", i), Type: "fact",
				Summary: new(fmt.Sprintf("%s %d", texts[name], i))}
			list = append(list, graph.Change{Node: n})
		}
		all := func(yield func(graph.Change, error) bool) {
			for _, c := range list {
				if !yield(c, nil) {
					return
				}
			}
		}
		b.Run(name+"/commit", func(b *testing.B) {
			for b.Loop() {
				r, err := repo.New(b.Context(), mem.New(), by, repo.Options{})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := r.Commit(b.Context(), all, repo.CommitOptions{Stamp: by, Message: "m"}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/guard", func(b *testing.B) {
			for b.Loop() {
				for i := range list {
					guard.Change(&list[i])
				}
			}
		})
	}
}

package core_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/exchange"
	"github.com/mnem-project/mnem/internal/guard"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/merging"
	"github.com/mnem-project/mnem/internal/outline"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/session"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/internal/view/distill"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

var (
	schemaType  = regexp.MustCompile(`^type (\w+) (struct|\{\w+:|union|enum|\w+)`)
	schemaField = regexp.MustCompile(`^  (\w+) (?:optional )?(?:nullable )?(.+)$`)
	schemaKind  = regexp.MustCompile(`^  \| (\w+) "(\w+)"$`)
)

// schemaText returns the fields of each kind of record that can hold text somebody chose, as in
// "node.content.media": strings, lists and maps of them, values of any kind, and links to blocks of text.
func schemaText(t *testing.T) map[string]bool {
	t.Helper()
	data := must.Get(os.ReadFile("../../spec/mnem.ipldsch"))(t)
	structs, kinds, other := map[string][][2]string{}, map[string]string{}, map[string]string{}
	name := ""
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(line, "\n")
		if m := schemaType.FindStringSubmatch(line); m != nil {
			name = m[1]
			other[name] = strings.TrimPrefix(line, "type "+name+" ")
		}
		if m := schemaKind.FindStringSubmatch(line); m != nil && name == "Record" {
			kinds[m[2]] = m[1]
		}
		if m := schemaField.FindStringSubmatch(line); m != nil && strings.HasPrefix(other[name], "struct") {
			structs[name] = append(structs[name], [2]string{m[1], m[2]})
		}
	}
	out := map[string]bool{}
	var fields func(path, typ string)
	fields = func(path, typ string) {
		bare := strings.Trim(typ, "[]")
		switch text := other[bare]; {
		case structs[bare] != nil:
			for _, f := range structs[bare] {
				fields(path+"."+f[0], f[1])
			}
		case strings.HasPrefix(text, "enum"), strings.HasPrefix(text, "union representation"):
		case bare == "Message", bare == "&Raw", bare == "Any", strings.Contains(bare, "String") && bare[0] != '{':
			out[path] = true
		case strings.HasPrefix(bare, "{"):
			out[path] = true
			_, value, _ := strings.Cut(strings.Trim(bare, "{}"), ":")
			if value = strings.TrimPrefix(value, "nullable "); structs[value] != nil {
				fields(path, value)
			}
		case strings.HasPrefix(text, "{"):
			out[path] = true
		}
	}
	for kind, typ := range maps.All(kinds) {
		fields(kind, typ)
	}
	must.Require(t, len(kinds) >= 18 && len(out) >= 60,
		"the schema has %d kinds and %d fields with text", len(kinds), len(out))
	return out
}

// closed are fields that no text of a caller gets into, and why.
var closed = map[string]string{
	"export.scope": "one of two words", "export.head": "a ref, of files alone", "tree.values": "links and adjacencies: keys are ids, names of models, or refs, see refs below",
	"conflict.item": "made of ids", "conflict.fields": "of records that are stored",
	"merge.verb": "one of the program's words", "operation.command": "see TestSecretsOfOperations",
	"stage.branch": "a ref, see refs below", "redaction.left": "of what was erased",
	"receipt.warnings.code": "the program's words", "receipt.warnings.params": "see receipt.request",
	"receipt.engine.language": "the program's words", "receipt.verdict": "the program's words", "receipt.digests.name": "of what is stored",
	"receipt.request.rerank": "a model's name: see TestSecretsOfDrafts", "written.rules": "the program's words",
	"written.label":   "must be the label of a digest, which none is given that is a credential",
	"resolution.take": "one of the program's words",
}

// attempt tries to have a credential stored.
type attempt func(ctx context.Context, r *core.Repo, secret string) error

func lineAttempt(line string) attempt {
	return func(ctx context.Context, r *core.Repo, secret string) error {
		return must.Err(repokit.TryLines(r, strings.ReplaceAll(line, "%", secret)))
	}
}

func changeLines(text string) state.Changes {
	return state.ReadChanges(strings.NewReader(text), "test.jsonl")
}

func stamped(change func(*state.Stamp)) state.Stamp {
	by := repokit.By
	change(&by)
	return by
}

func commitAttempt(change func(o *core.CommitOptions, secret string)) attempt {
	return func(ctx context.Context, r *core.Repo, secret string) error {
		opt := core.CommitOptions{Stamp: repokit.By, Message: "m"}
		change(&opt, secret)
		return must.Err(r.Commit(ctx, changeLines(`{"node":{"key":"new","type":"N"}}`), opt))
	}
}

func sessionAttempt(change func(o *state.Stamp, secret string)) attempt {
	return func(ctx context.Context, r *core.Repo, secret string) error {
		return must.Err(session.StartSession(ctx, r, "fresh", session.SessionOptions{
			Stamp: stamped(func(by *state.Stamp) { change(by, secret) }), Follow: true}))
	}
}

func requestAttempt(change func(q *retrieve.Request, secret string)) attempt {
	return func(ctx context.Context, r *core.Repo, secret string) error {
		q := retrieve.Request{Text: "words"}
		change(&q, secret)
		_, _, err := session.RetrieveIn(ctx, r, "s", q, repokit.By)
		return err
	}
}

func profileAttempt(change func(p *retrieve.Profiles, secret string)) attempt {
	return func(ctx context.Context, r *core.Repo, secret string) error {
		return must.Err(rank.SetProfiles(ctx, r, func(p *retrieve.Profiles) error {
			change(p, secret)
			return nil
		}, core.CommitOptions{Stamp: repokit.By, Message: "m"}))
	}
}

func tagAttempt(name string, change func(o *core.TagOptions, secret string)) attempt {
	return func(ctx context.Context, r *core.Repo, secret string) error {
		opt := core.TagOptions{RefOptions: core.RefOptions{Stamp: repokit.By}, Annotate: true, Message: "m"}
		if change != nil {
			change(&opt, secret)
		}
		return must.Err(r.Tags().Create(ctx, strings.ReplaceAll(name, "%", secret), "HEAD", opt))
	}
}

func purgeAttempt(change func(o *care.PurgeOptions, secret string)) attempt {
	return func(ctx context.Context, r *core.Repo, secret string) error {
		opt := care.PurgeOptions{Stamp: repokit.By}
		change(&opt, secret)
		return must.Err(care.Purge(ctx, r, "a", opt))
	}
}

func textAttempt(change func(d *outline.DigestText, secret string)) attempt {
	return func(ctx context.Context, r *core.Repo, secret string) error {
		s, err := r.Snapshot(ctx, "HEAD")
		if err != nil {
			return err
		}
		d, err := outline.Open(ctx, s, distill.Default(), outline.DigestOptions{})
		if err != nil {
			return err
		}
		root, _, err := d.Top(ctx, d.Blocks, graph.ID{})
		if err != nil {
			return err
		}
		text := repokit.TextFor(root, "what it says")
		change(&text, secret)
		_, err = repokit.WriteTexts(r, "", text)
		return err
	}
}

// refAttempt tries to have a credential as a name.
func refAttempt(make func(ctx context.Context, r *core.Repo, name string) error) attempt {
	return func(ctx context.Context, r *core.Repo, secret string) error { return make(ctx, r, "x/"+secret) }
}

// attempts are ways to have a credential stored in each field that can hold text.
var attempts = map[string]attempt{
	"node.key":            lineAttempt(`{"node":{"key":"%","type":"N"}}`),
	"node.type":           lineAttempt(`{"node":{"key":"new","type":"%"}}`),
	"node.summary":        lineAttempt(`{"node":{"key":"a","summary":"uses %"}}`),
	"node.context":        lineAttempt(`{"node":{"key":"a","context":"uses %"}}`),
	"node.cues":           lineAttempt(`{"node":{"key":"a","cues":["fine","%"]}}`),
	"node.props":          lineAttempt(`{"node":{"key":"a","props":{"x":[{"%":"y"}]}}}`),
	"node.sources":        lineAttempt(`{"node":{"key":"a","sources":["fine","%"]}}`),
	"node.content.text":   lineAttempt(`{"node":{"key":"a","content":"uses %"}}`),
	"node.content.chunks": lineAttempt(`{"node":{"key":"a","content":"` + strings.Repeat("word ", 60_000) + `%"}}`),
	"node.content.media":  lineAttempt(`{"node":{"key":"a","content":{"text":"x","media":"text/%"}}}`),
	"edge.type":           lineAttempt(`{"edge":{"src":"a","dst":"b","type":"%"}}`),
	"edge.key":            lineAttempt(`{"edge":{"src":"a","dst":"b","type":"t","key":"%"}}`),
	"edge.props":          lineAttempt(`{"edge":{"src":"a","dst":"b","type":"t","props":{"p":"%"}}}`),
	"edge.sources":        lineAttempt(`{"edge":{"src":"a","dst":"b","type":"t","sources":["%"]}}`),
	"mark.reason":         lineAttempt(`{"mark":{"node":"a","state":"stale","reason":"%"}}`),
	"mark.actor":          lineAttempt(`{"mark":{"node":"a","state":"stale","actor":"%"}}`),
	"embedding.model":     lineAttempt(`{"embedding":{"node":"a","model":"%","vector":[0.1,0.2]}}`),
	"embedding.vector":    lineAttempt(`{"embedding":{"node":"a","model":"m","sparse":{"%":0.5}}}`),

	"commit.author":  commitAttempt(func(o *core.CommitOptions, s string) { o.Author = s }),
	"commit.agent":   commitAttempt(func(o *core.CommitOptions, s string) { o.Agent = s }),
	"commit.task":    commitAttempt(func(o *core.CommitOptions, s string) { o.Task = s }),
	"commit.message": commitAttempt(func(o *core.CommitOptions, s string) { o.Message = "rotate " + s }),
	"operation.actor": refAttempt(func(ctx context.Context, r *core.Repo, s string) error {
		_, err := r.Branches().Create(ctx, "fine", "HEAD", core.RefOptions{
			Stamp: stamped(func(by *state.Stamp) { by.Author = strings.TrimPrefix(s, "x/") })})
		return err
	}),
	"merge.message": func(ctx context.Context, r *core.Repo, secret string) error {
		opt := repokit.Options("")
		opt.Message = secret
		_, err := merging.Merge(ctx, r, "clash", opt)
		return err
	},
	"tag.name":    tagAttempt("%", nil),
	"tag.tagger":  tagAttempt("fine", func(o *core.TagOptions, s string) { o.Author = s }),
	"tag.message": tagAttempt("fine", func(o *core.TagOptions, s string) { o.Message = s }),

	"session.name": func(ctx context.Context, r *core.Repo, secret string) error {
		_, err := session.StartSession(ctx, r, secret, session.SessionOptions{Stamp: repokit.By})
		return err
	},
	"session.agent": sessionAttempt(func(by *state.Stamp, s string) { by.Agent = s }),
	"session.task":  sessionAttempt(func(by *state.Stamp, s string) { by.Task = s }),
	"session.actor": sessionAttempt(func(by *state.Stamp, s string) { by.Author = s }),

	"redaction.reason": purgeAttempt(func(o *care.PurgeOptions, s string) { o.Reason = "leaked " + s }),
	"redaction.actor":  purgeAttempt(func(o *care.PurgeOptions, s string) { o.Author = s }),

	"profile.default": profileAttempt(func(p *retrieve.Profiles, s string) { p.Default = s }),
	"profile.profiles": profileAttempt(func(p *retrieve.Profiles, s string) {
		p.Named = map[string]retrieve.Profile{s: {}}
	}),
	"profile.profiles.params": profileAttempt(func(p *retrieve.Profiles, s string) {
		p.Named = map[string]retrieve.Profile{"p": {Params: []ipld.Entry{
			{Key: "expandTypes", Value: ipld.ListValue(ipld.StringValue(s))}}}}
	}),
	"profile.profiles.types": profileAttempt(func(p *retrieve.Profiles, s string) {
		p.Named = map[string]retrieve.Profile{"p": {Types: []string{s}}}
	}),
	"written.text":  textAttempt(func(d *outline.DigestText, s string) { d.Text = "uses " + s }),
	"written.model": textAttempt(func(d *outline.DigestText, s string) { d.Model = s }),

	"receipt.request.text": requestAttempt(func(q *retrieve.Request, s string) { q.Text = "who has " + s }),
	"receipt.request.vectors": requestAttempt(func(q *retrieve.Request, s string) {
		q.Vectors = []retrieve.QueryVector{{Model: s, Values: []int8{1, 2}}}
	}),
	"receipt.request.whole": requestAttempt(func(q *retrieve.Request, s string) {
		q.Vectors = []retrieve.QueryVector{{Model: s, Values: []int8{1, 2}}}
		q.Whole = []retrieve.WholeWords{{Model: s, Share: 1}}
	}),
	"receipt.request.sparse": requestAttempt(func(q *retrieve.Request, s string) {
		q.Sparse = []retrieve.SparseVector{{Model: "m", Terms: []graph.Term{{Term: s, Weight: 1}}}}
	}),
	"receipt.request.weights": requestAttempt(func(q *retrieve.Request, s string) {
		q.Vectors = []retrieve.QueryVector{{Model: s, Values: []int8{1, 2}}}
		q.Weights = []retrieve.LaneWeight{{Lane: retrieve.LaneDense(s), Weight: 1}}
	}),
	"receipt.request.edgeWeights": requestAttempt(func(q *retrieve.Request, s string) {
		q.EdgeWeights = []retrieve.EdgeWeight{{Type: s, Weight: 1}}
	}),
	"receipt.request.types":       requestAttempt(func(q *retrieve.Request, s string) { q.Types = []string{s} }),
	"receipt.request.expandTypes": requestAttempt(func(q *retrieve.Request, s string) { q.ExpandTypes = []string{s} }),
	"receipt.request.rewrites":    requestAttempt(func(q *retrieve.Request, s string) { q.Rewrites = []string{"or " + s} }),
	"receipt.request.where.name": requestAttempt(func(q *retrieve.Request, s string) {
		q.Where = []retrieve.Predicate{{Name: s, Op: retrieve.Exists}}
	}),
	"receipt.request.where.value": requestAttempt(func(q *retrieve.Request, s string) {
		q.Where = []retrieve.Predicate{{Name: "x", Op: retrieve.Equal, Value: ipld.StringValue(s)}}
	}),
}

// words are fields of requests that are one of some words: anything else is refused as it is.
var words = map[string]func(q *retrieve.Request, s string){
	"fusion":    func(q *retrieve.Request, s string) { q.Fusion = retrieve.Fusion(s) },
	"expansion": func(q *retrieve.Request, s string) { q.Expansion = retrieve.Expansion(s) },
	"direction": func(q *retrieve.Request, s string) { q.Direction = retrieve.Direction(s) },
	"show":      func(q *retrieve.Request, s string) { q.Show = []string{s} },
	"floor":     func(q *retrieve.Request, s string) { q.Floor = retrieve.Floor(s) },
	"format":    func(q *retrieve.Request, s string) { q.Format = retrieve.Format(s) },
	"spelling":  func(q *retrieve.Request, s string) { q.Spelling = retrieve.Spelling(s) },
	"pairs":     func(q *retrieve.Request, s string) { q.Pairs = retrieve.Pairing(s) },
	"profile":   func(q *retrieve.Request, s string) { q.Profile = s },
	"order":     func(q *retrieve.Request, s string) { q.Order = retrieve.Order(s) },
	"pack":      func(q *retrieve.Request, s string) { q.Pack = retrieve.Packing(s) },
	"tokenizer": func(q *retrieve.Request, s string) { q.Tokenizer = s },
	"altitude":  func(q *retrieve.Request, s string) { q.Altitude = retrieve.Altitude(s) },
	"rewrite":   func(q *retrieve.Request, s string) { q.Rewrite = s },
	"intent":    func(q *retrieve.Request, s string) { q.Intent = retrieve.Intent(s) },
	"where.op":  func(q *retrieve.Request, s string) { q.Where = []retrieve.Predicate{{Name: "x", Op: retrieve.Op(s)}} },
	"where.edges": func(q *retrieve.Request, s string) {
		q.Where = []retrieve.Predicate{{Name: "x", Op: retrieve.Exists, Edges: retrieve.Direction(s)}}
	},
}

// refs are ways to have a credential as the name of a ref, or in one.
var refs = map[string]attempt{
	"branch": refAttempt(func(ctx context.Context, r *core.Repo, name string) error {
		_, err := r.Branches().Create(ctx, name, "HEAD", core.RefOptions{Stamp: repokit.By})
		return err
	}),
	"renamed branch": refAttempt(func(ctx context.Context, r *core.Repo, name string) error {
		return r.Branches().Rename(ctx, "other", name, core.RefOptions{Stamp: repokit.By})
	}),
	"switched branch": refAttempt(func(ctx context.Context, r *core.Repo, name string) error {
		return r.Branches().Switch(ctx, name, core.SwitchOptions{Stamp: repokit.By, Create: true})
	}),
	"plain tag": refAttempt(func(ctx context.Context, r *core.Repo, name string) error {
		_, err := r.Tags().Create(ctx, name, "HEAD", core.TagOptions{RefOptions: core.RefOptions{Stamp: repokit.By}})
		return err
	}),
	"session": refAttempt(func(ctx context.Context, r *core.Repo, name string) error {
		_, err := session.StartSession(ctx, r, name, session.SessionOptions{Stamp: repokit.By})
		return err
	}),
	"stage": refAttempt(func(ctx context.Context, r *core.Repo, name string) error {
		_, err := r.Stages().Add(ctx, changeLines(`{"node":{"key":"n","type":"N"}}`), core.StageOptions{Stamp: repokit.By, Stage: name})
		return err
	}),
}

// withParts returns a repository that has what attempts build on.
func withParts(t *testing.T, st store.Store) *core.Repo {
	t.Helper()
	r := must.Get(care.New(t.Context(), st, repokit.By, core.Options{}))(t)
	t.Cleanup(func() {
		repokit.CheckClean(t, r)
		must.OK(t, r.Close())
	})
	repokit.Lines(t, r, `{"node":{"key":"a","type":"N","summary":"words"}}`+"\n"+`{"node":{"key":"b","type":"N"}}`)
	base := repokit.Head(t, r).CID()
	repokit.Fork(t, r, "other", base)
	repokit.Fork(t, r, "clash", base)
	must.Get(r.Commit(t.Context(), changeLines(`{"node":{"key":"a","summary":"theirs"}}`),
		core.CommitOptions{Stamp: repokit.By, Message: "m", Branch: "clash"}))(t)
	repokit.Lines(t, r, `{"node":{"key":"a","summary":"ours"}}`)
	must.Get(session.StartSession(t.Context(), r, "s", session.SessionOptions{Stamp: repokit.By, Follow: true}))(t)
	return r
}

// TestSecretsInEveryField has a credential for each field of each kind of record, as the schema lists them.
func TestSecretsInEveryField(t *testing.T) {
	st := repokit.AnyStore(t)
	r := withParts(t, st)
	fields := schemaText(t)
	all := maps.Clone(attempts)
	for name, set := range words {
		all["receipt.request."+name] = requestAttempt(set)
	}
	for name := range all {
		must.True(t, fields[name] || name == "embedding.vector", "%s is no field that the schema gives text", name)
	}
	for name := range fields {
		must.True(t, all[name] != nil || closed[name] != "",
			"%s may hold text, and nothing tries to put a credential there", name)
	}
	for name := range closed {
		must.True(t, fields[name] || strings.HasPrefix(name, "resolution."),
			"%s is no field that the schema gives text", name)
	}
	for name, try := range refs {
		all["ref: "+name] = try
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		err := all[name](t.Context(), r, repokit.AwsKey)
		word := words[strings.TrimPrefix(name, "receipt.request.")] != nil
		if !errors.Is(err, state.ErrSecret) && !(word && (errors.Is(err, retrieve.ErrRequest) || errors.Is(err, retrieve.ErrNoProfile))) {
			t.Errorf("%s: %v", name, err)
		}
		if kind, _, _ := strings.Cut(name, "."); slices.Contains([]string{"node", "edge", "mark", "embedding"}, kind) &&
			!strings.HasPrefix(err.Error(), "test.jsonl:1: "+kind+".") {
			t.Errorf("%s: the refusal names another place: %v", name, err)
		}
		must.True(t, err == nil || !strings.Contains(guard.Message(err.Error()), repokit.AwsKey),
			"%s: the error shows it: %v", name, err)
		must.True(t, !errors.Is(err, state.ErrSecret) || !strings.Contains(err.Error(), repokit.AwsKey),
			"%s: the refusal shows it: %v", name, err)
	}
	hasNone(t, st)

	// What is allowed is written, so that no attempt fails for another reason.
	for _, name := range []string{"session.task", "tag.name", "mark.actor", "profile.profiles", "redaction.reason"} {
		must.OK(t, attempts[name](t.Context(), r, "harmless"), name, " without a credential")
	}
}

// TestSecretsOfOperations has a credential in the words of a command, which callers put together.
func TestSecretsOfOperations(t *testing.T) {
	st := repokit.AnyStore(t)
	r := withParts(t, st)
	command := stamped(func(by *state.Stamp) { by.Command = []string{"branch", repokit.AwsKey} })
	_, err := r.Branches().Create(t.Context(), "fine", "HEAD", core.RefOptions{Stamp: command})
	refusedAt(t, err, "operation.command", "aws-access-token")
	_, err = care.Purge(t.Context(), r, "a", care.PurgeOptions{Stamp: command})
	must.True(t, errors.Is(err, state.ErrSecret) && !strings.Contains(err.Error(), repokit.AwsKey), "%v", err)
	hasNone(t, st)
	must.Get(r.Branches().Create(t.Context(), "fine", "HEAD", core.RefOptions{Stamp: repokit.By}))(t)
}

// TestSecretsOfDrafts has credentials in receipts that come from outside, in fields that this version does not know
// too, and in the record of a node that has such a field.
func TestSecretsOfDrafts(t *testing.T) {
	st := repokit.AnyStore(t)
	r := withParts(t, st)
	answer := must.Get(rank.Retrieve(t.Context(), repokit.Head(t, r), retrieve.Request{Text: "words"}))(t)
	draft := must.Get(session.Draft(answer))(t)
	rec := must.Get(retrieve.DecodeReceipt(draft.Block))(t)
	rec.Extra = []ipld.Entry{{Key: "later", Value: ipld.ListValue(ipld.StringValue(repokit.AwsKey))}}
	hidden := *draft
	hidden.Block = rec.Encode()
	_, err := session.RecordDrafts(t.Context(), r, "s", []*core.DraftReceipt{&hidden}, repokit.By)
	refusedAt(t, err, "receipt.later", "aws-access-token")
	asked := *draft
	asked.Texts = []string{"words of " + repokit.AwsKey}
	_, err = session.RecordDrafts(t.Context(), r, "s", []*core.DraftReceipt{&asked}, repokit.By)
	must.True(t, err != nil, "a receipt was recorded with another query")
	hasNone(t, st)
	n, err := session.RecordDrafts(t.Context(), r, "s", []*core.DraftReceipt{draft}, repokit.By)
	must.True(t, n == 1 && err == nil, "%v %v", n, err)
}

// unread lists functions that put blocks without tx.put, and why they need no search for credentials.
var unread = map[string]string{
	"putBlock": "records of changes, which prepare looks at", "putNode": "chunks of changes, likewise",
	"putMessage": "it looks itself", "appendDraft": "it looks itself",
	"putMerged": "after putAfter looked, and for conflicts of records that are stored", "PutMerged": "made of stored records",
	"apply":  "an import keeps every byte, and reports",
	"record": "made of both sides of a merge", "versions": "likewise", "keepBase": "likewise",
	"PutRecord": "restored, or of changes, which the batch looks at",
}

// TestEveryPutIsRead finds who stages blocks without tx.put, which looks for credentials.
func TestEveryPutIsRead(t *testing.T) {
	var files []string
	for _, room := range []string{"state", "merge3", "core", "rank", "session", "history", "merging", "care", "exchange"} {
		list, err := filepath.Glob(filepath.Join("..", room, "*.go"))
		must.Require(t, err == nil && len(list) != 0, "%v %v %v", room, len(list), err)
		files = append(files, list...)
	}
	found := map[string]bool{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file := must.Get(parser.ParseFile(token.NewFileSet(), name, nil, 0))(t)
		for _, d := range file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			ast.Inspect(fn, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				put, ok := call.Fun.(*ast.SelectorExpr)
				if !ok || put.Sel.Name != "Put" {
					return true
				}
				on := ""
				switch x := put.X.(type) {
				case *ast.Ident:
					on = x.Name
				case *ast.SelectorExpr:
					on = x.Sel.Name
				}
				if on != "stage" && on != "Stage" {
					return true
				}
				of := fn.Name.Name
				found[of] = true
				must.True(t, unread[of] != "",
					"%s: %s stages a block in which nothing looks for credentials: use put", name, of)
				return true
			})
		}
	}
	for name := range unread {
		must.True(t, found[name], "%s stages nothing", name)
	}
}

// TestSecretsAllowedOnce checks that text once allowed needs no permission again unless something new is written.
func TestSecretsAllowedOnce(t *testing.T) {
	r := repokit.OpenMem(t)
	repokit.Lines(t, r, `{"node":{"key":"a","type":"N"}}`)
	allow := allowing(state.SecretOptions{Allow: []string{"aws-access-token"}})
	task := allow
	task.Task = "rotate " + repokit.AwsKey
	must.Get(session.StartSession(t.Context(), r, "s", session.SessionOptions{Stamp: task}))(t)
	must.Get(session.AdvanceSession(t.Context(), r, "s", "HEAD", repokit.By))(t)
	_, _, err := session.RetrieveIn(t.Context(), r, "s", retrieve.Request{Text: "x"}, repokit.By)
	must.True(t, err == nil, "%v", err)
	name := "x/" + repokit.AwsKey
	must.Get(r.Branches().Create(t.Context(), name, "HEAD", core.RefOptions{Stamp: allow}))(t)
	must.OK(t, r.Branches().Switch(t.Context(), name, core.SwitchOptions{Stamp: repokit.By}))
	repokit.Lines(t, r, `{"node":{"key":"b","type":"N"}}`)
	must.OK(t, r.Branches().Switch(t.Context(), "main", core.SwitchOptions{Stamp: repokit.By}))
	force := core.RefOptions{Stamp: repokit.By, Force: true}
	must.Get(r.Branches().Remove(t.Context(), name, force))(t)
	must.Get(history.Undo(t.Context(), r, "", repokit.By))(t)
	profile := func(by state.Stamp, name string) error {
		return must.Err(rank.SetProfiles(t.Context(), r, func(p *retrieve.Profiles) error {
			if p.Named == nil {
				p.Named = map[string]retrieve.Profile{}
			}
			p.Named[name] = retrieve.Profile{}
			return nil
		}, core.CommitOptions{Stamp: by, Message: "m"}))
	}
	must.OK(t, profile(allow, repokit.AwsKey))
	must.OK(t, profile(repokit.By, "fine"))
	must.Fail(t, profile(repokit.By, "AKIA"+"Z7WK2ZBR7DNX5TFM"), state.ErrSecret)
	must.Get(care.Purge(t.Context(), r, "a", care.PurgeOptions{Stamp: repokit.By, Reason: "fine"}))(t)
}

// hasNone fails the test where a block, or the note of a purge, has the credential.
func hasNone(t *testing.T, st store.Store) {
	t.Helper()
	blocks := 0
	err := st.Facts().Iterate(t.Context(), ipld.CID{}, func(b store.Block) error {
		blocks++
		if bytes.Contains(b.Data, []byte(repokit.AwsKey)) {
			t.Errorf("block %s (%s) has it", b.CID, ipld.PeekKind(b.Data))
		}
		return nil
	})
	must.True(t, err == nil && blocks >= 10, "%d blocks, %v", blocks, err)
	if notes, ok := st.(store.Notebook); ok {
		note := must.Get(notes.Note(t.Context()))(t)
		must.True(t, !bytes.Contains(note, []byte(repokit.AwsKey)), "the note has it")
	}
}

// refusedAt fails the test unless an error refuses a credential at a place.
func refusedAt(t *testing.T, err error, place string, rules ...string) {
	t.Helper()
	var secret *state.SecretError
	must.True(t, errors.As(err, &secret) && errors.Is(err, state.ErrSecret) && !errors.Is(err, graph.ErrInvalid) &&
		strings.HasPrefix(err.Error(), place+": ") && slices.Equal(secret.Rules, rules),
		"%v, want %s refused by %v", err, place, rules)
	must.True(t, err == nil || !strings.Contains(err.Error(), repokit.AwsKey),
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
	f := res.Secrets.Findings
	must.True(t, len(f) == 1 && f[0] == want, "%+v", f)

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
	must.True(t, errors.As(err, &secret) && secret.Bulk, "%+v does not say that it is of Strict", secret)
	res, err = commit(bulk.String(), state.SecretOptions{})
	must.True(t, err == nil && len(res.Secrets.Findings) == 100 && res.Secrets.More == state.BulkChanges/2-100,
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
			must.True(t, f.Rule == "aws-access-token" && f.Item != "" && f.Line == 0, "%+v", f)
		}
		slices.Sort(out)
		return strings.Join(out, " ")
	}
	const all = "edge.props.p mark.reason node.content node.summary"
	repokit.Fork(t, r, "third", base)
	forward := repokit.Options("third")
	res, err := merging.Merge(t.Context(), r, "other", forward)
	must.True(t, err == nil && res.FastForward && fields(res.Secrets) == all, "%+v, %v", res, err)
	repokit.Lines(t, r, `{"node":{"key":"mine","type":"N"}}`)
	res, err = merging.Merge(t.Context(), r, "other", repokit.Options(""))
	must.True(t, err == nil && !res.FastForward && fields(res.Secrets) == all, "%+v, %v", res, err)

	file, _ := repokit.Export(t, r, exchange.ExportOptions{All: true})
	to := repokit.OpenMem(t)
	for _, dry := range []bool{true, false} {
		in := must.Get(repokit.TryImport(to, file, exchange.ImportOptions{Stamp: repokit.By, DryRun: dry}))(t)
		must.Equal(t, fields(in.Secrets), "edge.props.p mark.reason node.summary text", "dry ", dry)
	}
	again, err := repokit.TryImport(to, file, exchange.ImportOptions{Stamp: repokit.By})
	must.True(t, err == nil && len(again.Secrets.Findings) == 0, "again: %+v, %v", again, err)
}

// TestSecretsResolve refuses a credential in lines that resolve a conflict.
func TestSecretsResolve(t *testing.T) {
	r, _, _ := repokit.Conflicted(t)
	_, err := merging.ResolveConflict(t.Context(), r, "a", repokit.Changes(`{"node":{"key":"a","summary":"`+repokit.AwsKey+`"}}`),
		repokit.Options("").CommitOptions)
	refusedAt(t, err, "fix:1: node.summary", "aws-access-token")
}

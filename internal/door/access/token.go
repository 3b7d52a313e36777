package access

import (
	"context"
	"errors"
	"time"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/reach"
	"github.com/mnem-project/mnem/internal/door/serve"
	"github.com/mnem-project/mnem/internal/door/shelf"
	"github.com/mnem-project/mnem/internal/door/show"
	"github.com/mnem-project/mnem/internal/keyring"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

type tokenJSON struct {
	ID      string        `json:"id"`
	Name    string        `json:"name"`
	Scope   string        `json:"scope" shape:"read|write|admin"`
	Author  verb.Text     `json:"author"`
	Agent   verb.Text     `json:"agent"`
	Only    verb.Text     `json:"only"` // the branch that callers with it are confined to
	Created graph.Time    `json:"created"`
	Expires graph.OptTime `json:"expires"`
}

// newTokenJSON is a token as it is shown once.
type newTokenJSON struct {
	tokenJSON
	Token string `json:"token"`
}

type listedTokenJSON struct {
	tokenJSON
	Expired bool `json:"expired"`
}

type revokedJSON struct {
	Revoked string `json:"revoked"`
}

func jsonToken(t *serve.Token) tokenJSON {
	out := tokenJSON{
		ID: t.ID, Name: t.Name, Scope: t.Scope, Author: verb.Text(t.Author), Agent: verb.Text(t.Agent),
		Only:    verb.Text(t.Only),
		Created: graph.From(t.Created),
	}
	switch {
	case t.Grant != nil:
		out.Expires = graph.At(graph.From(t.Grant.Until))
	case t.Expires != nil:
		out.Expires = graph.At(graph.From(*t.Expires))
	}
	return out
}

type (
	tokenRequest struct {
		Name    string `op:",arg"`
		Scope   string `op:"" default:"read" enum:"read write admin" doc:"what it allows: {SCOPE} is read, write or admin"`
		Expires string `op:"" doc:"until when it counts: a {TIME}, RFC 3339 or YYYY-MM-DD, or a duration from now, as 720h"`
		Author  string `op:"" doc:"the author of its commits, whatever callers say"`
		Agent   string `op:"" doc:"the agent of its commits, whatever callers say"`
		Only    string `op:"" complete:"branch" doc:"confine callers to this {BRANCH}: they read and write nothing else"`
	}
	tokenNamed struct {
		Name string `op:",arg"`
	}
)

// TokenCommands are the commands for tokens of a server.
func TokenCommands() []*line.Bound {
	return []*line.Bound{
		reach.Local(verb.Spec{
			Command: "serve token new", Right: verb.OwnRight, Usage: "NAME", Title: "Create a token",
			Doc: "Make a token and print it, this once: it cannot be read again. NAME is 1 to 64 of a\n" +
				"to z, 0 to 9, - and _, and is the agent of commits made with the token unless --agent or the\n" +
				"caller names another. The scope read changes nothing; write does what 'mnem undo' takes back;\n" +
				"admin also removes what nothing brings back, as purge and gc do.\n\n" +
				"With --only, callers have one branch and nothing else of the memory: it begins empty unless it is\n" +
				"there. A server takes such a token only if callers need one: see --need-token and docs/servers.md.",
			Example: "  mnem serve token new notebook\n" +
				"  mnem serve token new alice --scope write --only users/alice\n" +
				"  mnem serve token new importer --scope write --expires 720h --agent importer --author Ada",
			Answers: []any{newTokenJSON{}},
		}, newToken),
		reach.LocalLines(verb.Spec{
			Command: "serve token list", Right: verb.NoRight, Title: "List tokens",
			Doc:     "List the tokens there are, by name. With --json, one object a line.",
			Example: "  mnem serve token list\n  mnem serve token list --json", Answers: []any{listedTokenJSON{}},
		}, listTokens),
		reach.Local(verb.Spec{
			Command: "serve token revoke", Right: verb.OwnRight, Usage: "NAME|ID", Title: "Revoke a token",
			Doc: "Forget a token, and those of clients that were let in with it. A server that runs refuses them from\n" +
				"the next request on; what was done with them stays.",
			Example: "  mnem serve token revoke notebook", Answers: []any{revokedJSON{}},
		}, revokeToken),
	}
}

func newToken(ctx context.Context, c *line.Line, f *tokenRequest) error {
	if c.App.Rand == nil {
		return errors.New("make a token: no source of randomness")
	}
	if err := keyring.CheckName(f.Name); err != nil {
		return err
	}
	if serve.EffectOf(f.Scope) == 0 {
		return line.Usagef("--scope: %q is not read, write or admin", f.Scope)
	}
	for flag, value := range map[string]string{"--author": f.Author, "--agent": f.Agent} {
		if len(value) > serve.MaxName {
			return line.Usagef("%s: more than %d bytes", flag, serve.MaxName)
		}
	}
	if f.Only != "" {
		if err := core.CheckOnly(f.Only); err != nil {
			return line.Usagef("--only: %w", err)
		}
	}
	t, text, err := serve.NewToken(c.App.Rand, f.Name, f.Scope, c.App.Now())
	if err != nil {
		return err
	}
	t.Author, t.Agent, t.Only = f.Author, f.Agent, f.Only
	if t.Expires, err = expiry(f.Expires, c.App.Now()); err != nil {
		return err
	}
	dir, err := Tokens(c)
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := dir.Add(ctx, &t); err != nil {
		return err
	}
	if c.InJSON {
		return c.PrintJSON(newTokenJSON{jsonToken(&t), text})
	}
	c.Remark("keep it well: it is shown this once")
	if t.Author == "" && t.Scope != operation.Reads.String() && c.Linked() {
		c.Remark("it names no author: a server without MNEM_AUTHOR refuses writes that name none either; see --author")
	}
	return c.Printf("%s\n", text)
}

// expiry reads a time, or a duration from now; nil for neither.
func expiry(s string, now time.Time) (*time.Time, error) {
	if s == "" {
		return nil, nil
	}
	until, err := graph.ParseTime(s)
	if err == nil {
		at := time.UnixMicro(int64(until)).UTC()
		return &at, nil
	}
	d, durationErr := time.ParseDuration(s)
	if durationErr != nil {
		return nil, line.Usagef("--expires: %w; nor is it a duration", err)
	}
	if d <= 0 {
		return nil, line.Usagef("--expires: %s is over", s)
	}
	at := now.Add(d).UTC().Truncate(time.Microsecond)
	return &at, nil
}

func listTokens(_ context.Context, c *line.Line, _ *struct{}) error {
	dir, err := Tokens(c)
	if err != nil {
		return err
	}
	defer dir.Close()
	all, err := dir.List()
	if err != nil {
		return err
	}
	listed := make([]listedTokenJSON, len(all))
	for i := range all {
		listed[i] = listedTokenJSON{jsonToken(&all[i]), all[i].Over(c.App.Now())}
	}
	return show.PrintList(&c.Console, listed, func(t listedTokenJSON) []show.Cell {
		until := "for ever"
		if t.Expires.Given {
			until = "until " + t.Expires.String()
		}
		if t.Expired {
			until += ", over"
		}
		return show.Row(line.OneLine(t.Name), show.Bold, t.ID, show.Dim, t.Scope, "", until, show.Dim,
			line.OneLine(line.FirstOf(string(t.Agent), t.Name)), "", line.OneLine(string(t.Author)), "", line.OneLine(string(t.Only)), "")
	})
}

func revokeToken(_ context.Context, c *line.Line, q *tokenNamed) error {
	dir, err := Tokens(c)
	if err != nil {
		return err
	}
	defer dir.Close()
	t, err := shelf.Named(dir, q.Name)
	if err != nil {
		return err
	}
	if err := dir.Remove(t); err != nil {
		return err
	}
	all, err := dir.List()
	if err != nil {
		return err
	}
	for i := range all {
		if g := all[i].Grant; g != nil && g.By == t.ID { // it counts no more
			if err := dir.Remove(&all[i]); err != nil {
				return err
			}
		}
	}
	return c.Say(revokedJSON{t.Name}, "revoked %s\n", line.OneLine(t.Name))
}

// Tokens returns the tokens of the repository that the command is about.
func Tokens(c *line.Line) (shelf.Tokens, error) {
	one, err := Served(c)
	if err != nil {
		return nil, err
	}
	return one.Tokens, nil
}

// Served returns what a server needs of the repository that the command is about.
func Served(c *line.Line) (*shelf.One, error) {
	dir, err := c.Dir()
	if err == nil {
		_, err = c.RepoFile("")
	}
	if err != nil {
		return nil, err
	}
	return shelf.Of(dir, c.App.Now)
}

// TokensFor has a server ask for the tokens of the repository that the command is about, until what it returns is
// closed.
func TokensFor(c *line.Line, cfg *serve.Config) (shelf.Tokens, error) {
	tokens, err := Tokens(c)
	if err == nil {
		cfg.Token = tokens.Get
	}
	return tokens, err
}

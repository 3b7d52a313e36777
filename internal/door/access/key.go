// Package access is the commands about who may do what: signing keys, access tokens, and the policy for agents.
package access

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/reach"
	"github.com/mnem-project/mnem/internal/door/show"
	"github.com/mnem-project/mnem/internal/keyring"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
)

// keyJSON describes a key. Secret tells whether the user can sign with it.
type keyJSON struct {
	Name        verb.Text     `json:"name"`
	Key         string        `json:"key"`
	Fingerprint string        `json:"fingerprint"`
	Secret      bool          `json:"secret"`
	Trust       string        `json:"trust" shape:"trusted|untrusted|revoked"`
	Note        verb.Text     `json:"note"`
	Added       graph.OptTime `json:"added"`
	Revoked     graph.OptTime `json:"revoked"`
	Since       graph.OptTime `json:"since"`
	Reason      verb.Text     `json:"reason"`
}

type removedJSON struct {
	Removed string `json:"removed"`
}

// exportedKeyJSON is a key to hand on; the secret only if it was asked for.
type exportedKeyJSON struct {
	Name   verb.Text `json:"name"`
	Key    string    `json:"key"`
	Secret string    `json:"secret,omitempty"`
}

func jsonKey(k keyring.Known) keyJSON {
	out := keyJSON{
		Name: verb.Text(k.Name), Key: k.Key.String(), Fingerprint: k.Key.Fingerprint(),
		Secret: k.Secret, Trust: k.Trust(), Note: verb.Text(k.Entry.Note),
	}
	if !k.Entry.Key.IsZero() {
		out.Added = graph.At(k.Entry.Added)
	}
	if r := k.Entry.Revoked; r != nil {
		out.Revoked, out.Since, out.Reason = graph.At(r.At), r.Since, verb.Text(r.Reason)
	}
	return out
}

type (
	keyNamed struct {
		Name string `op:",arg"`
	}
	keyExportRequest struct {
		keyNamed
		Secret bool `op:"" doc:"print the secret, too"`
	}
	keyImportRequest struct {
		File string `op:",arg"`
		Name string `op:"" doc:"the {NAME} to keep it under"`
	}
	keyRmRequest struct {
		keyNamed
		Yes bool `op:"" doc:"really delete it"`
	}
	keyTrustRequest struct {
		Key    string `op:",arg"`
		Name   string `op:"" doc:"whose key it is"`
		Note   string `op:"message,short=m" doc:"what else to remember about it"`
		Remove bool   `op:"" not:"name message redactions" doc:"take it off the trust list"`
		Purge  bool   `op:"redactions" doc:"accept redactions that it signed as they come"`
		verb.Params
	}
	keyRevokeRequest struct {
		keyNamed
		Since  graph.OptTime `op:"" doc:"from which {TIME} on, RFC 3339; default: for ever"`
		Reason string        `op:"" doc:"why"`
	}
)

// KeyCommands are the commands for keys that sign.
func KeyCommands() []*line.Bound {
	key := []any{keyJSON{}}
	return []*line.Bound{
		reach.Local(verb.Spec{
			Command: "key new", Right: verb.OwnRight, Usage: "NAME", Title: "Create a key",
			Doc: "Make a key, keep its secret under NAME and trust it. A name is 1 to 64 of a to z, 0 to\n" +
				"9, - and _; one that is taken is refused.",
			Example: "  mnem key new work", Answers: key,
		}, keyNew),
		reach.LocalLines(verb.Spec{
			Command: "key list", Right: verb.NoRight, Title: "List your keys and the keys you know",
			Doc: "List the keys that you can sign with, then the others of the trust list. With --json,\n" +
				"one object a line; secret tells whether you can sign with the key.",
			Example: "  mnem key list", Answers: key,
		}, keyList),
		reach.Local(verb.Spec{
			Command: "key show", Right: verb.NoRight, Usage: "NAME|KEY", Title: "Show a key", Complete: "key",
			Doc: "Print a key, its fingerprint, and what the trust list says of it. The secret is not\n" +
				"shown.",
			Example: "  mnem key show work", Answers: key,
		}, keyShow),
		reach.Local(verb.Spec{
			Command: "key export", Right: verb.NoRight,
			Usage: "NAME|KEY [--secret]", Title: "Print a public key, or your secret key", Complete: "key",
			Doc: "Print the text form of a key, which others give to 'mnem key trust'. With --secret,\n" +
				"the key file of your own key NAME, which 'mnem key import' reads: anyone who sees it can\n" +
				"sign as you.",
			Example: "  mnem key export work\n  mnem key export --secret work", Answers: []any{exportedKeyJSON{}},
		}, keyExport),
		reach.Local(verb.Spec{
			Command: "key import", Right: verb.OwnRight,
			Usage: "FILE|- [--name NAME]", Args: "FILE|-", Title: "Import a secret key",
			Doc: "Store the secret of a key file, as 'mnem key export --secret' prints it, and trust its key. The name\n" +
				"is that of the file without its ending, unless --name gives one.",
			Example: "  mnem key import laptop.key\n  mnem key import laptop.key --name tablet", Answers: key,
		}, keyImport),
		reach.Local(verb.Spec{
			Command: "key rm", Right: verb.OwnRight,
			Usage: "NAME --yes", Args: "NAME", Title: "Delete a secret key", Complete: "key",
			Doc: "Delete the secret of your own key NAME, for good: nothing can be signed with it again.\n" +
				"The key stays trusted, so that what it signed still verifies. The bytes may stay on the\n" +
				"medium and in copies of it: where they could be in wrong hands, revoke the key.",
			Example: "  mnem key rm work --yes", Answers: []any{removedJSON{}},
		}, keyRm),
		reach.Local(verb.Spec{
			Command: "key trust", Right: verb.OwnRight,
			Usage: "KEY|NAME [--name NAME] [-m NOTE]", Args: "KEY|NAME", Title: "Trust a key", Complete: "key",
			Doc: "Trust what is signed by a key, as 'mnem key export' printed it, or give a trusted key another name\n" +
				"or note. Compare the fingerprint with its owner over a channel that no one else controls. A revoked\n" +
				"key must be removed before it can be trusted again.\n\n" +
				"--remove takes the key off the list, with its revocation if it has one: what it signed is untrusted\n" +
				"then, and no longer an error for 'mnem key verify'. To have it stay an error, revoke the key.\n\n" +
				"With --redactions, erasures that others made and signed with the key are repeated here when a fetch\n" +
				"brings them, without asking: in what the refs of that remote reach. --redactions=false ends that.",
			Example: "  mnem key trust " +
				"mnem-ed25519-25njqamcweflpvkl73j4szahhihoc4xt3ktcgjnpaingr5yhkenhiels --name ada\n  mnem key trust ada --remove", Answers: key,
		}, keyTrust),
		reach.Local(verb.Spec{
			Command: "key revoke", Right: verb.OwnRight,
			Usage: "KEY|NAME [--since TIME] [--reason TEXT]", Args: "KEY|NAME", Title: "Revoke a key", Complete: "key",
			Doc: "Revoke a key, whether it is in the trust list or not: none of its signatures counts any longer. With\n" +
				"--since, those on commits that claim to be older still count. Use that for a key that went out of\n" +
				"use. It does not help against a thief, who can write any time into a commit: revoke a stolen key\n" +
				"without --since, look through what it signed, and from there on check with 'mnem key verify\n" +
				"REV..HEAD'.\n\n" +
				"This changes only your own trust list: tell the others.",
			Example: "  mnem key revoke work --since 2026-01-01 --reason 'a new laptop'\n" +
				"  mnem key revoke work --reason stolen", Answers: key,
		}, keyRevoke),
	}
}

func keyNew(ctx context.Context, c *line.Line, q *keyNamed) error {
	if c.App.Rand == nil {
		return errors.New("make a key: no source of randomness")
	}
	if err := keyring.CheckName(q.Name); err != nil {
		return err
	}
	secret, err := commit.NewSecret(c.App.Rand)
	if err != nil {
		return fmt.Errorf("make a key: %w", err)
	}
	return keep(ctx, c, q.Name, secret)
}

func keep(ctx context.Context, c *line.Line, name string, secret commit.Secret) error {
	ring, err := c.Ring()
	if err != nil {
		return err
	}
	now, err := c.Now()
	if err != nil {
		return err
	}
	if err := ring.Keep(ctx, name, secret, now); errors.Is(err, fs.ErrExist) {
		return line.Hint(line.Already(err, "key %q", name), "'mnem key list' shows the keys there are: give "+
			"another name")
	} else if err != nil {
		return err
	}
	return showKey(c, name)
}

// showKey prints what is known of the key that a text form or a name means.
func showKey(c *line.Line, arg string) error {
	_, k, err := findKey(c, arg)
	if err != nil {
		return err
	}
	return printKey(c, k)
}

// findKey returns the key that a text form or a name means, and the user's keys. It refuses an ambiguous name.
func findKey(c *line.Line, arg string) (*keyring.Ring, keyring.Known, error) {
	ring, err := c.Ring()
	if err != nil {
		return nil, keyring.Known{}, err
	}
	found, err := ring.Named(arg)
	switch {
	case err != nil:
		return nil, keyring.Known{}, err
	case len(found) == 0:
		return nil, keyring.Known{}, line.Hint(&state.NotFoundError{What: "key", Name: arg},
			"see 'mnem key list', or give the whole key: %s…", commit.KeyPrefix)
	case len(found) > 1:
		return nil, keyring.Known{}, fmt.Errorf("%w: %d keys are named %q: give the whole key", state.ErrInvalid,
			len(found), arg)
	}
	return ring, found[0], nil
}

func keyList(_ context.Context, c *line.Line, _ *struct{}) error {
	ring, err := c.Ring()
	if err != nil {
		return err
	}
	known, err := ring.Known()
	if err != nil {
		return err
	}
	all := make([]keyJSON, len(known))
	for i, k := range known {
		all[i] = jsonKey(k)
	}
	return show.PrintList(&c.Console, all, func(k keyJSON) []show.Cell {
		return show.Row(line.FirstOf(line.OneLine(string(k.Name)), "(no name)"), show.Bold, k.Fingerprint, show.Yellow,
			map[bool]string{true: "own", false: "theirs"}[k.Secret], "",
			k.Trust, trustStyle(k.Trust), line.OneLine(string(k.Note)), "")
	})
}

func trustStyle(trust string) string {
	switch trust {
	case keyring.Trusted:
		return show.Green
	case keyring.Revoked:
		return show.Red
	}
	return show.Yellow
}

func yesNo(is bool) string { return map[bool]string{true: "yes", false: "no"}[is] }

func keyShow(_ context.Context, c *line.Line, q *keyNamed) error { return showKey(c, q.Name) }

func printKey(c *line.Line, k keyring.Known) error {
	if c.InJSON {
		return c.PrintJSON(jsonKey(k))
	}
	rows := [][]show.Cell{
		show.Row("name", "", line.FirstOf(line.OneLine(k.Name), "(no name)"), show.Bold),
		show.Row("key", "", k.Key.String(), ""),
		show.Row("fingerprint", "", k.Key.Fingerprint(), show.Yellow),
		show.Row("secret", "", yesNo(k.Secret), ""),
		show.Row("trust", "", k.Trust(), trustStyle(k.Trust())),
	}
	add := func(name, value string) {
		if value != "" {
			rows = append(rows, show.Row(name, "", line.OneLine(value), ""))
		}
	}
	if k.Entry.Purge {
		add("purge", "trusted for redactions")
	}
	add("note", k.Entry.Note)
	if !k.Entry.Key.IsZero() {
		add("added", k.Entry.Added.String())
	}
	if r := k.Entry.Revoked; r != nil {
		add("revoked", r.At.String())
		add("since", line.FirstOf(r.Since.String(), "ever"))
		add("reason", r.Reason)
	}
	return c.Table(rows)
}

func keyExport(_ context.Context, c *line.Line, q *keyExportRequest) error {
	if q.Secret {
		return exportSecret(c, q.Name)
	}
	_, k, err := findKey(c, q.Name)
	if err != nil {
		return err
	}
	return c.Say(exportedKeyJSON{Name: verb.Text(k.Name), Key: k.Key.String()}, "%s\n", k.Key)
}

func exportSecret(c *line.Line, name string) error {
	ring, err := c.Ring()
	if err != nil {
		return err
	}
	secret, err := ring.Secret(name)
	if err != nil {
		return line.MissingKey(err, name)
	}
	return c.Say(exportedKeyJSON{verb.Text(name), secret.Key().String(), secret.Reveal()}, "%s", keyring.FormatKeyFile(secret))
}

func keyImport(ctx context.Context, c *line.Line, q *keyImportRequest) error {
	name := q.Name
	if name == "" && q.File == line.StdinName {
		return line.Usagef("standard input has no name: give one with --name")
	}
	if name == "" {
		base := filepath.Base(q.File)
		name = strings.TrimSuffix(base, filepath.Ext(base))
	}
	if err := keyring.CheckName(name); err != nil {
		return line.Hint(err, "give another name with --name")
	}
	secret, err := readKeyFile(ctx, c, q.File)
	if err != nil {
		return err
	}
	return keep(ctx, c, name, secret)
}

func readKeyFile(ctx context.Context, c *line.Line, arg string) (commit.Secret, error) {
	f, shown, err := c.Open(ctx, arg)
	if err != nil {
		return commit.Secret{}, err
	}
	data, err := io.ReadAll(io.LimitReader(f, keyring.MaxKeyFile+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return commit.Secret{}, fmt.Errorf("read %s: %w", shown, err)
	}
	secret, err := keyring.ParseKeyFile(data)
	if err == nil {
		return secret, nil
	}
	err = fmt.Errorf("%s: %w", shown, err)
	if _, other := commit.ParseKey(strings.TrimSpace(string(data))); other == nil {
		err = line.Hint(err, "it is a key without a secret: trust it with 'mnem key trust'")
	}
	return commit.Secret{}, err
}

func keyRm(_ context.Context, c *line.Line, q *keyRmRequest) error {
	if !q.Yes {
		return line.Usagef("a secret that is deleted cannot be had back: confirm with --yes")
	}
	ring, err := c.Ring()
	if err != nil {
		return err
	}
	if err := ring.Remove(q.Name); err != nil {
		return line.MissingKey(err, q.Name)
	}
	return c.Say(removedJSON{q.Name}, "deleted the secret of key %s\n", line.OneLine(q.Name))
}

func keyTrust(ctx context.Context, c *line.Line, q *keyTrustRequest) error {
	return editTrust(ctx, c, q.Key, func(l *keyring.TrustList, k keyring.Known, now graph.Time) error {
		if q.Remove && !l.Remove(k.Key) {
			return &state.NotFoundError{What: "key in the trust list", Name: q.Key}
		}
		if q.Remove {
			return nil
		}
		name := q.Name
		if name == "" && k.Entry.Key.IsZero() {
			name = k.Name
		}
		err := l.Add(k.Key, name, q.Note, now)
		if old, ok := l.Find(k.Key); err != nil && ok && old.Revoked != nil {
			return line.Hint(err, "'mnem key trust %s --remove' removes it with its revocation", q.Key)
		}
		if err == nil && q.Given("redactions") {
			err = l.SetPurge(k.Key, q.Purge)
		}
		return err
	})
}

func keyRevoke(ctx context.Context, c *line.Line, q *keyRevokeRequest) error {
	return editTrust(ctx, c, q.Name, func(l *keyring.TrustList, k keyring.Known, now graph.Time) error {
		return l.Revoke(k.Key, keyring.Revocation{At: now, Since: q.Since, Reason: q.Reason})
	})
}

func editTrust(
	ctx context.Context, c *line.Line, arg string,
	edit func(l *keyring.TrustList, k keyring.Known, now graph.Time) error,
) error {
	now, err := c.Now()
	if err != nil {
		return err
	}
	ring, k, err := findKey(c, arg)
	if err != nil {
		return err
	}
	if err := ring.EditTrust(ctx, func(l *keyring.TrustList) error { return edit(l, k, now) }); err != nil {
		return err
	}
	return showKey(c, k.Key.String())
}

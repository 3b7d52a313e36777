package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/keyring"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/repo"
)

// keyJSON is what is known of a key. Secret tells whether the user can sign with it.
type keyJSON struct {
	Name        ops.Text      `json:"name"`
	Key         string        `json:"key"`
	Fingerprint string        `json:"fingerprint"`
	Secret      bool          `json:"secret"`
	Trust       string        `json:"trust" shape:"trusted|untrusted|revoked"`
	Note        ops.Text      `json:"note"`
	Added       graph.OptTime `json:"added"`
	Revoked     graph.OptTime `json:"revoked"`
	Since       graph.OptTime `json:"since"`
	Reason      ops.Text      `json:"reason"`
}

type removedJSON struct {
	Removed string `json:"removed"`
}

// exportedKeyJSON is a key to hand on; the secret only where it was asked for.
type exportedKeyJSON struct {
	Name   ops.Text `json:"name"`
	Key    string   `json:"key"`
	Secret string   `json:"secret,omitempty"`
}

func jsonKey(k keyring.Known) keyJSON {
	out := keyJSON{
		Name: ops.Text(k.Name), Key: k.Key.String(), Fingerprint: k.Key.Fingerprint(),
		Secret: k.Secret, Trust: k.Trust(), Note: ops.Text(k.Entry.Note),
	}
	if !k.Entry.Key.IsZero() {
		out.Added = graph.At(k.Entry.Added)
	}
	if r := k.Entry.Revoked; r != nil {
		out.Revoked, out.Since, out.Reason = graph.At(r.At), r.Since, ops.Text(r.Reason)
	}
	return out
}

func (c *cli) keyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "key",
		GroupID: groupCare,
		Short:   "Manage signing keys and the keys you trust",
		Long: "Make and keep the keys with which you sign commits, and the list of keys whose\n" +
			"signatures you trust. Both are yours, not the repository's: files in mnem/keys under\n" +
			"XDG_CONFIG_HOME or the system's directory of configurations, where only you can read\n" +
			"them. Keys are Ed25519. A secret has no passphrase: who can read its file can sign as\n" +
			"you.\n\n" +
			"To have others trust you, give them what 'mnem key export NAME' prints, in a way that\n" +
			"they can be sure it is from you. Then sign with 'mnem commit --sign', or always after\n" +
			"'mnem config set sign true', and check with 'mnem verify'.",
		Example: "  mnem key new work\n  mnem key list\n  mnem key export work",
	}
	cmd.PersistentFlags().StringVar(&c.keysDir, "keys", "",
		"the `DIR`ectory of keys and the trust list (MNEM_KEYS; default: the user's)")
	return c.parent(cmd, c.keyNew(), c.keyList(), c.keyShow(), c.keyExport(), c.keyImport(),
		c.keyRm(), c.keyTrust(), c.keyRevoke(), c.keyUntrust())
}

func (c *cli) keyNew() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "new NAME",
		Short: "Create a key",
		Long: "Make a key, keep its secret under NAME and trust it. A name is 1 to 64 of a to z, 0 to\n" +
			"9, - and _; one that is taken is refused.",
		Example: "  mnem key new work",
		Args:    cobra.ExactArgs(1),
	}
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		if c.app.Rand == nil {
			return errors.New("make a key: no source of randomness")
		}
		if err := keyring.CheckName(args[0]); err != nil {
			return err
		}
		secret, err := commit.NewSecret(c.app.Rand)
		if err != nil {
			return fmt.Errorf("make a key: %w", err)
		}
		return c.keep(cmd.Context(), args[0], secret)
	})
}

// keep stores a secret, trusts its key, and prints it.
func (c *cli) keep(ctx context.Context, name string, secret commit.Secret) error {
	ring, err := c.ring()
	if err != nil {
		return err
	}
	now, err := c.now()
	if err != nil {
		return err
	}
	if err := ring.Keep(ctx, name, secret, now); errors.Is(err, fs.ErrExist) {
		return hint(already(err, "key %q", name), "'mnem key list' shows the keys there are: give "+
			"another name")
	} else if err != nil {
		return err
	}
	k, err := c.findKey(ring, name)
	if err != nil {
		return err
	}
	return c.printKey(k)
}

// findKey returns the key that a text form or a name means. A name that several keys have is
// refused.
func (c *cli) findKey(ring *keyring.Ring, arg string) (keyring.Known, error) {
	found, err := ring.Named(arg)
	switch {
	case err != nil:
		return keyring.Known{}, err
	case len(found) == 0:
		return keyring.Known{}, hint(&repo.NotFoundError{What: "key", Name: arg},
			"see 'mnem key list', or give the whole key: %s…", commit.KeyPrefix)
	case len(found) > 1:
		return keyring.Known{}, fmt.Errorf("%w: %d keys are named %q: give the whole key", repo.ErrInvalid,
			len(found), arg)
	}
	return found[0], nil
}

func (c *cli) keyList() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List your keys and the keys you know",
		Long: "List the keys that you can sign with, then the others of the trust list. With --json,\n" +
			"one object a line; secret tells whether you can sign with the key.",
		Example: "  mnem key list",
		Args:    cobra.NoArgs,
	}
	return c.command(cmd, func(*cobra.Command, []string) error {
		ring, err := c.ring()
		if err != nil {
			return err
		}
		known, err := ring.Known()
		if err != nil {
			return err
		}
		return printList(c, known, jsonKey, func(k keyring.Known) []cell {
			return []cell{
				{firstOf(line(k.Name), "(no name)"), styleBold}, {k.Key.Fingerprint(), styleYellow},
				{map[bool]string{true: "own", false: "theirs"}[k.Secret], ""},
				{k.Trust(), trustStyle(k.Trust())}, {line(k.Entry.Note), ""},
			}
		})
	})
}

func trustStyle(trust string) string {
	switch trust {
	case keyring.Trusted:
		return styleGreen
	case keyring.Revoked:
		return styleRed
	}
	return styleYellow
}

func (c *cli) keyShow() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show NAME|KEY",
		Short: "Show a key",
		Long: "Print a key, its fingerprint, and what the trust list says of it. The secret is not\n" +
			"shown.",
		Example:           "  mnem key show work",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: c.keyNames,
	}
	return c.command(cmd, func(_ *cobra.Command, args []string) error {
		ring, err := c.ring()
		if err != nil {
			return err
		}
		k, err := c.findKey(ring, args[0])
		if err != nil {
			return err
		}
		return c.printKey(k)
	})
}

// printKey prints what is known of a key.
func (c *cli) printKey(k keyring.Known) error {
	if c.global.json {
		return c.printJSON(jsonKey(k))
	}
	rows := [][]cell{
		{{"name", ""}, {firstOf(line(k.Name), "(no name)"), styleBold}},
		{{"key", ""}, {k.Key.String(), ""}},
		{{"fingerprint", ""}, {k.Key.Fingerprint(), styleYellow}},
		{{"secret", ""}, {map[bool]string{true: "yes", false: "no"}[k.Secret], ""}},
		{{"trust", ""}, {k.Trust(), trustStyle(k.Trust())}},
	}
	add := func(name, value string) {
		if value != "" {
			rows = append(rows, []cell{{name, ""}, {line(value), ""}})
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
		add("since", firstOf(r.Since.String(), "ever"))
		add("reason", r.Reason)
	}
	return c.table(rows)
}

func (c *cli) keyExport() *cobra.Command {
	var secret bool
	cmd := &cobra.Command{
		Use:   "export NAME|KEY [--secret]",
		Short: "Print a public key, or your secret key",
		Long: "Print the text form of a key, which others give to 'mnem key trust'. With --secret,\n" +
			"the key file of your own key NAME, which 'mnem key import' reads: whoever sees it can\n" +
			"sign as you.",
		Example:           "  mnem key export work\n  mnem key export --secret work",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: c.keyNames,
	}
	cmd.Flags().BoolVar(&secret, "secret", false, "print the secret, too")
	return c.command(cmd, func(_ *cobra.Command, args []string) error {
		ring, err := c.ring()
		if err != nil {
			return err
		}
		if secret {
			return c.exportSecret(ring, args[0])
		}
		k, err := c.findKey(ring, args[0])
		if err != nil {
			return err
		}
		if c.global.json {
			return c.printJSON(exportedKeyJSON{Name: ops.Text(k.Name), Key: k.Key.String()})
		}
		return c.printf("%s\n", k.Key)
	})
}

func (c *cli) exportSecret(ring *keyring.Ring, name string) error {
	secret, err := ring.Secret(name)
	if err != nil {
		return missingKey(err, name)
	}
	if c.global.json {
		return c.printJSON(exportedKeyJSON{ops.Text(name), secret.Key().String(), secret.Reveal()})
	}
	return c.printf("%s", keyring.FormatKeyFile(secret))
}

func (c *cli) keyImport() *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:   "import FILE|- [--name NAME]",
		Short: "Import a secret key",
		Long: "Keep the secret in a key file, as 'mnem key export --secret' prints it, and trust its\n" +
			"key. The name is that of the file without its ending, unless --name gives one.",
		Example: "  mnem key import laptop.key\n  mnem key import laptop.key --name tablet",
		Args:    cobra.ExactArgs(1),
	}
	cmd.Flags().StringVar(&name, "name", "", "the `NAME` to keep it under")
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		if name == "" && args[0] == stdinName {
			return usagef("standard input has no name: give one with --name")
		}
		if name == "" {
			base := filepath.Base(args[0])
			name = strings.TrimSuffix(base, filepath.Ext(base))
		}
		if err := keyring.CheckName(name); err != nil {
			return hint(err, "give another name with --name")
		}
		secret, err := c.readKeyFile(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		return c.keep(cmd.Context(), name, secret)
	})
}

func (c *cli) readKeyFile(ctx context.Context, arg string) (commit.Secret, error) {
	f, shown, err := c.open(ctx, arg)
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
		err = hint(err, "it is a key without a secret: trust it with 'mnem key trust'")
	}
	return commit.Secret{}, err
}

func (c *cli) keyRm() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "rm NAME --yes",
		Short: "Delete a secret key",
		Long: "Delete the secret of your own key NAME, for good: nothing can be signed with it again.\n" +
			"The key stays trusted, so that what it signed still verifies. The bytes may stay on the\n" +
			"medium and in copies of it: where they could be in wrong hands, revoke the key.",
		Example:           "  mnem key rm work --yes",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: c.keyNames,
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "really delete it")
	return c.command(cmd, func(_ *cobra.Command, args []string) error {
		if !yes {
			return usagef("a secret that is deleted cannot be had back: confirm with --yes")
		}
		ring, err := c.ring()
		if err != nil {
			return err
		}
		if err := ring.Remove(args[0]); err != nil {
			return missingKey(err, args[0])
		}
		if c.global.json {
			return c.printJSON(removedJSON{args[0]})
		}
		return c.printf("deleted the secret of key %s\n", line(args[0]))
	})
}

// revocationTime reads the value of --since, absent where it was not given.
func revocationTime(s string) (graph.OptTime, error) {
	if s == "" {
		return graph.OptTime{}, nil
	}
	t, err := graph.ParseTime(s)
	if err != nil {
		return graph.OptTime{}, usagef("--since: %w", err)
	}
	return graph.At(t), nil
}

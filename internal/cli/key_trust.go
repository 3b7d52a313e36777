package cli

import (
	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/keyring"
	"github.com/mnem-project/mnem/repo"
)

func (c *cli) keyTrust() *cobra.Command {
	var name, note string
	var purge bool
	cmd := &cobra.Command{
		Use:   "trust KEY|NAME [--name NAME] [--note TEXT]",
		Short: "Trust a key",
		Long: "Trust what is signed by a key, as 'mnem key export' printed it, or give a key that is\n" +
			"trusted another name or note. Compare the fingerprint with its owner in a way that\n" +
			"nobody else controls. A revoked key must be removed with 'mnem key untrust' before it\n" +
			"can be trusted again.\n\n" +
			"With --purge, what others erased and signed with the key is erased here too when it comes by a\n" +
			"fetch, without being asked about: in what the refs of that remote reach. --purge=false ends that.",
		Example: "  mnem key trust " +
			"mnem-ed25519-25njqamcweflpvkl73j4szahhihoc4xt3ktcgjnpaingr5yhkenhiels --name ada",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: c.keyNames,
	}
	cmd.Flags().StringVar(&name, "name", "", "whose key it is")
	cmd.Flags().StringVar(&note, "note", "", "what else to remember about it")
	cmd.Flags().BoolVar(&purge, "purge", false, "accept redactions that it signed as they come")
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		return c.editTrust(cmd, args[0], func(l *keyring.TrustList, k keyring.Known, now graph.Time) error {
			if name == "" && k.Entry.Key.IsZero() {
				name = k.Name
			}
			err := l.Add(k.Key, name, note, now)
			if old, ok := l.Find(k.Key); err != nil && ok && old.Revoked != nil {
				return hint(err, "'mnem key untrust %s' removes it with its revocation", args[0])
			}
			if err == nil && cmd.Flags().Changed("purge") {
				err = l.SetPurge(k.Key, purge)
			}
			return err
		})
	})
}

func (c *cli) keyRevoke() *cobra.Command {
	var since, reason string
	cmd := &cobra.Command{
		Use:   "revoke KEY|NAME [--since TIME] [--reason TEXT]",
		Short: "Revoke a key",
		Long: "Revoke a key, whether it is in the trust list or not: no signature of it counts any\n" +
			"more. With --since, those on commits that say to be older still count. That is for a key\n" +
			"that went out of use. It does not help against a thief, who can write any time into a\n" +
			"commit: revoke a stolen key without --since, look through what it signed, and from\n" +
			"there on check with 'mnem verify REV..HEAD'.\n\n" +
			"Only your own trust list changes: tell the others.",
		Example: "  mnem key revoke work --since 2026-01-01 --reason 'a new laptop'\n" +
			"  mnem key revoke work --reason stolen",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: c.keyNames,
	}
	cmd.Flags().StringVar(&since, "since", "", "from which `TIME` on, RFC 3339; default: for ever")
	cmd.Flags().StringVar(&reason, "reason", "", "why")
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		from, err := revocationTime(since)
		if err != nil {
			return err
		}
		return c.editTrust(cmd, args[0], func(l *keyring.TrustList, k keyring.Known, now graph.Time) error {
			return l.Revoke(k.Key, keyring.Revocation{At: now, Since: from, Reason: reason})
		})
	})
}

func (c *cli) keyUntrust() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "untrust KEY|NAME",
		Short: "Remove a key from the trust list",
		Long: "Remove a key from the trust list, with its revocation if it has one: what it signed is\n" +
			"untrusted then, and no longer an error for 'mnem verify'. To have it stay an error,\n" +
			"revoke the key.",
		Example:           "  mnem key untrust work",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: c.keyNames,
	}
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		return c.editTrust(cmd, args[0], func(l *keyring.TrustList, k keyring.Known, _ graph.Time) error {
			if !l.Remove(k.Key) {
				return &repo.NotFoundError{What: "key in the trust list", Name: args[0]}
			}
			return nil
		})
	})
}

// editTrust changes what the trust list says of a key, and prints what it says then.
func (c *cli) editTrust(
	cmd *cobra.Command, arg string,
	edit func(l *keyring.TrustList, k keyring.Known, now graph.Time) error,
) error {
	ring, err := c.ring()
	if err != nil {
		return err
	}
	now, err := c.now()
	if err != nil {
		return err
	}
	k, err := c.findKey(ring, arg)
	if err != nil {
		return err
	}
	err = ring.EditTrust(cmd.Context(), func(l *keyring.TrustList) error { return edit(l, k, now) })
	if err != nil {
		return err
	}
	k, err = c.findKey(ring, k.Key.String())
	if err != nil {
		return err
	}
	return c.printKey(k)
}

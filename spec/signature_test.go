package spec_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"testing"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/internal/keyring"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// signatureInput is the input of the vectors of the layer signature, which set one or two of these members each.
type signatureInput struct {
	Key, Secret, Block, Trust string
	Erased                    string // the CID of the block that Block is the redaction of
	File, List                *string
	Good, Bad                 []string
}

func runSignature(t *testing.T, v vector) {
	var in signatureInput
	parse(t, v.Input, &in)
	switch {
	case in.Key != "":
		runKey(t, v, in.Key)
	case in.Erased != "":
		runRedactionSignature(t, v, in)
	case in.Secret != "":
		runSecret(t, v, in.Secret, in.Block)
	case in.Block != "":
		runState(t, v, in.Block, in.Trust)
	case in.File != nil:
		s, err := keyring.ParseKeyFile([]byte(*in.File))
		if refusal(t, v, err) {
			return
		}
		var want struct{ Key string }
		parse(t, v.Expect, &want)
		same(t, "key", s.Key().String(), want.Key)
		same(t, "file", string(keyring.FormatKeyFile(s)), *in.File)
	case in.List != nil:
		runTrustList(t, v, *in.List)
	default:
		runKeyNames(t, in.Good, in.Bad)
	}
}

func runKey(t *testing.T, v vector, text string) {
	key, err := commit.ParseKey(text)
	if refusal(t, v, err) {
		return
	}
	var want struct{ Bytes, Fingerprint string }
	parse(t, v.Expect, &want)
	same(t, "bytes", hex.EncodeToString(key[:]), want.Bytes)
	same(t, "fingerprint", key.Fingerprint(), want.Fingerprint)
	same(t, "text", key.String(), text)
}

// runSecret makes the key of a secret, or signs the commit that is given.
func runSecret(t *testing.T, v vector, text, unsigned string) {
	s, err := commit.ParseSecret(text)
	if refusal(t, v, err) {
		return
	}
	var want struct{ Key, Block, CID, Change string }
	parse(t, v.Expect, &want)
	if unsigned == "" {
		same(t, "key", s.Key().String(), want.Key)
		return
	}
	c := must.Get(commit.DecodeCommit(expand(t, unsigned)))(t)
	must.OK(t, c.Sign(s.Sign))
	got := c.Encode()
	must.True(t, bytes.Equal(got, expand(t, want.Block)), "signed commit %x, want %s", got, want.Block)
	same(t, "CID", ipld.Sum(ipld.DagCBOR, c.Encode()).String(), want.CID)
	change := commit.ChangeID(&commit.Commit{
		Parents: c.Parents, Height: c.Height, Graph: c.Graph, Vectors: c.Vectors, Author: c.Author,
		Agent: c.Agent, Task: c.Task, Time: c.Time, Message: c.Message, Extra: c.Extra,
	})
	same(t, "change id", hex.EncodeToString(change[:]), want.Change)
}

func runState(t *testing.T, v vector, block, trust string) {
	c := must.Get(commit.DecodeCommit(expand(t, block)))(t)
	list := must.Get(keyring.ParseTrustList([]byte(trust)))(t)
	var want struct{ State, Key string }
	parse(t, v.Expect, &want)
	got := commit.Verify(c, list)
	same(t, "state", string(got.State), want.State)
	key := ""
	if !got.Key.IsZero() {
		key = got.Key.String()
	}
	same(t, "key", key, want.Key)
}

func runTrustList(t *testing.T, v vector, text string) {
	list, err := keyring.ParseTrustList([]byte(text))
	if refusal(t, v, err) {
		return
	}
	var want struct{ Keys []string }
	parse(t, v.Expect, &want)
	got := []string{}
	for _, e := range list.Entries() {
		got = append(got, e.Key.String())
	}
	must.Same(t, got, want.Keys, "keys")
}

func runKeyNames(t *testing.T, good, bad []string) {
	for _, name := range good {
		must.OK(t, keyring.CheckName(name))
	}
	for _, name := range bad {
		must.True(t, keyring.CheckName(name) != nil, "accepted as a name: %q", name)
	}
	must.True(t, len(good) != 0 && len(bad) != 0, "nothing to check")
}

// runRedactionSignature signs a redaction if there is a secret, and judges it if there is none.
func runRedactionSignature(t *testing.T, v vector, in signatureInput) {
	erased := must.Get(ipld.ParseCID(in.Erased))(t)
	rec := must.Get(commit.DecodeRedaction(expand(t, in.Block)))(t)
	var want struct{ Block, State, Key string }
	parse(t, v.Expect, &want)
	if in.Secret != "" {
		secret := must.Get(commit.ParseSecret(in.Secret))(t)
		must.OK(t, rec.Sign(erased, secret.Sign))
		got := rec.Encode()
		must.True(t, bytes.Equal(got, expand(t, want.Block)), "signed redaction %x, want %s", got, want.Block)
		return
	}
	key, err := rec.Signer(erased)
	state, by := "signed", key.String()
	switch {
	case errors.Is(err, commit.ErrUnsigned):
		state, by = "unsigned", ""
	case errors.Is(err, commit.ErrSignature):
		state, by = "bad", ""
	case err != nil:
		t.Fatal(err)
	}
	same(t, "state", state, want.State)
	same(t, "key", by, want.Key)
}

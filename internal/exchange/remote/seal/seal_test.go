package seal

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"encoding/pem"
	"errors"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"filippo.io/age"
	"golang.org/x/crypto/ssh"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

func TestMain(m *testing.M) {
	workFactor = 10
	os.Exit(m.Run())
}

// reader returns an identity, and the reader that it is.
func reader(t *testing.T) (age.Identity, Recipient) {
	t.Helper()
	id := must.Get(age.GenerateX25519Identity())(t)
	r := must.Get(ParseReader(id.Recipient().String(), nil))(t)
	return id, r[0]
}

// own returns identities as Keys has them.
func own(list ...age.Identity) func() ([]age.Identity, error) {
	return func() ([]age.Identity, error) { return list, nil }
}

func none() (string, error) { return "", errors.New("there is no terminal") }

func opened(t *testing.T, b *Box, keys Keys) *Box {
	t.Helper()
	got, rest, err := Unlock(append(b.Header(), "rest"...), keys)
	must.OK(t, err, "rest ", rest)
	must.Equal(t, string(rest), "rest", "rest ", rest)
	return got
}

// TestBox opens a box by each of its readers, by its passphrase and by what was seen, and by no other key.
func TestBox(t *testing.T) {
	a, readerA := reader(t)
	b, readerB := reader(t)
	stranger, _ := reader(t)
	pass := func() (string, error) { return "correct horse", nil }
	byPass := must.Get(ParseReader("# of all\n\npassphrase\n", pass))(t)
	box, err := New(append(byPass, readerA, readerB, readerA))
	must.Require(t, err == nil && len(box.Readers) == 3, "%v, %v", box, err)
	data, err := box.SealText([]byte("what others cannot read"))
	must.Require(t, err == nil && !bytes.Contains(data, []byte("others")), "not encrypted %v", err)
	seen := box.Seen()
	for _, keys := range []Keys{
		{Identities: own(a), Passphrase: none}, {Identities: own(stranger, b), Passphrase: none},
		{Identities: own(stranger), Passphrase: pass}, {Seen: &seen},
	} {
		got := opened(t, box, keys)
		text, err := got.OpenText(data, 100)
		must.True(t, err == nil && string(text) == "what others cannot read", "%q, %v", text, err)
		must.True(t, got.Take(box.Record) == nil && got.Follows(seen) == nil, "it does not follow itself")
	}
	must.Fail(t, must.Err(box.OpenText(data, 10)), ErrDamaged, "more than the limit")
	for at := range data { // also the end, which only the end of the stream proves
		damaged := bytes.Clone(data)
		damaged[at] ^= 1
		_, err := box.OpenText(damaged, 100)
		_, cut := box.OpenText(data[:at], 100)
		must.True(t, err != nil && cut != nil, "byte %d: damaged %v, cut off %v", at, err, cut)
	}
	wrong := func() (string, error) { return "another", nil }
	_, _, err = Unlock(box.Header(), Keys{Identities: own(stranger), Passphrase: wrong})
	must.True(t, errors.Is(err, ErrNoIdentity), "%v", err)
	alone := must.Get(New([]Recipient{readerA}))(t)
	_, _, err = Unlock(alone.Header(), Keys{Identities: own(b), Passphrase: none})
	must.True(t, errors.Is(err, ErrNoIdentity), "%v", err)
	must.Fail(t, must.Err(alone.OpenText(data, 100)), ErrDamaged)
}

// TestHeader refuses headers with no reader and with too many, and reads one with as many as there may be.
func TestHeader(t *testing.T) {
	id, r := reader(t)
	box := must.Get(New([]Recipient{r}))(t)
	keys := Keys{Identities: own(id), Passphrase: none, Seen: new(box.Seen())}
	for n, want := range map[int]error{0: ErrDamaged, 1: nil, MaxReaders: nil, MaxReaders + 1: ErrDamaged} {
		many := *box
		many.copies = slices.Repeat(box.copies, n)
		_, _, err := Unlock(many.Header(), keys)
		must.True(t, errors.Is(err, want), "%d readers: %v, want %v", n, err, want)
	}
}

// TestFollows makes what may come after a store, and what may not.
func TestFollows(t *testing.T) {
	_, readerA := reader(t)
	b, readerB := reader(t)
	box := must.Get(New([]Recipient{readerA, readerB}))(t)
	next := box.Next()
	must.True(t, next.Serial == 1 && next.Follows(box.Seen()) == nil && errors.Is(box.Follows(next.Seen()), ErrOlder),
		"a write is not told from the one before it")
	without, err := next.Without([]string{readerB.Text}, none)
	must.True(t, err == nil && without.Follows(next.Seen()) == nil && without.Follows(box.Seen()) == nil,
		"another key does not follow: %v", err)
	_, _, err = Unlock(without.Header(), Keys{Identities: own(b), Passphrase: none})
	must.True(t, errors.Is(err, ErrNoIdentity), "who was removed still reads: %v", err)
	stranger := must.Get(New([]Recipient{readerA}))(t)
	stranger.Serial = 9
	must.Fail(t, stranger.Follows(next.Seen()), ErrStranger, "a stranger's key follows")
	_, err = next.Without([]string{readerA.Text, readerB.Text}, none)
	must.True(t, err != nil, "no reader is left, and that is no error")
}

// TestSSH uses keys of ssh, one with a passphrase.
func TestSSH(t *testing.T) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	must.OK(t, err)
	pub := must.Get(ssh.NewPublicKey(public))(t)
	readers, err := ParseReader(strings.TrimSpace(string(ssh.MarshalAuthorizedKey(pub)))+" ada@example", none)
	must.Require(t, err == nil && !strings.Contains(readers[0].Text, "ada"), "%v %v", readers, err)
	box := must.Get(New(readers))(t)
	plain := must.Get(ssh.MarshalPrivateKey(private, ""))(t)
	locked := must.Get(ssh.MarshalPrivateKeyWithPassphrase(private, "", []byte("pass")))(t)
	for _, block := range []*pem.Block{plain, locked} {
		ids, err := ParseIdentities(pem.EncodeToMemory(block), func() (string, error) { return "pass", nil })
		must.OK(t, err)
		opened(t, box, Keys{Identities: own(ids...), Passphrase: none})
	}
}

// TestBadKeys gives what is no recipient and no identity; errors never quote a secret.
func TestBadKeys(t *testing.T) {
	id, _ := reader(t)
	secret := id.(*age.X25519Identity).String()
	for _, text := range []string{"", "# only a comment", "age1", "ssh-dss AAAA", "ssh-ed25519", secret, "ada"} {
		_, err := ParseReader(text, none)
		must.True(t, err != nil && !strings.Contains(err.Error(), secret), "%q: %v", text, err)
	}
	for _, text := range []string{
		"", "x", strings.Replace(secret, "1", "2", 1), secret[:40], "age-encryption.org/v1\n",
		"-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----\n",
	} {
		if _, err := ParseIdentities([]byte(text), none); err == nil || len(text) > 30 && strings.Contains(err.Error(), secret[20:40]) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// frozen is a store in form 1 that an earlier program wrote.
type frozen struct {
	Identity, Fingerprint, Header string
	Sealed                        []byte
	Record                        Record
}

func readFrozen(tb testing.TB) (f frozen, keys Keys) {
	tb.Helper()
	data, err := os.ReadFile("testdata/form1.json")
	if err == nil {
		err = json.Unmarshal(data, &f)
	}
	must.OK(tb, err)
	id := must.Get(age.ParseX25519Identity(f.Identity))(tb)
	return f, Keys{Identities: own(id), Passphrase: none}
}

// TestFrozen reads a store that an earlier program wrote, whose key was changed once.
func TestFrozen(t *testing.T) {
	f, keys := readFrozen(t)
	b, rest, err := Unlock([]byte(f.Header), keys)
	must.Require(t, err == nil && len(rest) == 0 && fingerprint(b.key) == f.Fingerprint, "%v %v %v", b, rest, err)
	record, err := b.OpenText(f.Sealed, 1000)
	if err == nil {
		err = b.Read(record)
	}
	must.True(t, err == nil && reflect.DeepEqual(b.Record, f.Record) && b.Serial == 2 && len(b.Former) == 1,
		"%+v, %v", b.Record, err)
	must.OK(t, b.Follows(Seen{Key: f.Record.Former[0], Serial: 1}))
	for _, bad := range []string{"", "{", `{"serial":-1}`, `{"serial":1,"readers":[]}`, `{"other":1}`} {
		must.Fail(t, b.Read([]byte(bad)), ErrDamaged, bad)
	}
}

// FuzzUnlock reads any header: it is refused, or has the key that it was made with.
func FuzzUnlock(f *testing.F) {
	form, keys := readFrozen(f)
	f.Add([]byte(form.Header + "rest"))
	f.Add([]byte(Magic + "\n"))
	f.Add([]byte(Magic + "key 00\nreader AAAA\n\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, _, err := Unlock(data, keys)
		if err == nil && fingerprint(b.key) != form.Fingerprint {
			t.Errorf("a key with the fingerprint %s", fingerprint(b.key))
		}
	})
}

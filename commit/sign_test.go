package commit

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// secretOf returns the secret of a seed in hex.
func secretOf(t testing.TB, seed string) Secret {
	t.Helper()
	raw := must.Get(hex.DecodeString(seed))(t)
	return must.Get(NewSecret(bytes.NewReader(raw)))(t)
}

// rfcSeed is the secret of test 1 in RFC 8032, section 7.1.
const rfcSeed = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"

func signedCommit(t testing.TB) *Commit {
	t.Helper()
	c := goldenCommit()
	c.Signature = nil
	must.OK(t, c.Sign(secretOf(t, rfcSeed).Sign))
	return c
}

// TestSignEveryByte changes each byte of a signed commit in several ways: no result that decodes has a valid signature.
func TestSignEveryByte(t *testing.T) {
	c := signedCommit(t)
	block := c.Encode()
	trusting := trustAll{}
	must.Equal(t, Verify(c, trusting).State, Signed, "the commit itself")
	states := map[SignatureState]int{}
	for i := range block {
		for _, x := range []byte{1, 2, 4, 8, 16, 32, 64, 128, 255} {
			changed := bytes.Clone(block)
			changed[i] ^= x
			got, err := DecodeCommit(changed)
			if err != nil {
				continue
			}
			v := Verify(got, trusting)
			states[v.State]++
			must.Require(t, (v.State == Bad || v.State == Unsigned) && v.Key.IsZero(),
				"byte %d changed by %#x: %s by %s", i, x, v.State, v.Key)
		}
	}
	// A byte of the field's name makes it an unknown field of a commit without signature.
	must.True(t, states[Bad] >= 1000 && states[Unsigned] != 0, "states %v: too few commits still decoded", states)
}

type trustAll struct{}

func (trustAll) Trust(Key, graph.Time) Trust { return Trust{State: Signed, Name: "everybody"} }

type trustUntil struct{ graph.Time }

func (v trustUntil) Trust(_ Key, at graph.Time) Trust {
	if at >= v.Time {
		return Trust{State: Revoked, Name: "ada", Reason: "lost"}
	}
	return Trust{State: Signed, Name: "ada"}
}

func TestVerify(t *testing.T) {
	key := secretOf(t, rfcSeed).Key()
	good := signedCommit(t)
	unsigned := goldenCommit()
	unsigned.Signature = nil
	cases := []struct {
		name     string
		commit   *Commit
		verifier Verifier
		want     Verdict
	}{
		{"none", unsigned, trustAll{}, Verdict{State: Unsigned}},
		{"good", good, trustAll{}, Verdict{State: Signed, Key: key, Name: "everybody"}},
		{"no verifier", good, nil, Verdict{State: Untrusted, Key: key}},
		{"revoked", good, trustUntil{good.Time}, Verdict{Revoked, key, "ada", "lost"}},
		{"before", good, trustUntil{good.Time + 1}, Verdict{State: Signed, Key: key, Name: "ada"}},
		{"other bytes", goldenCommit(), trustAll{}, Verdict{State: Bad, Reason: "bad signature: 3 bytes, want 97"}},
	}
	for _, c := range cases {
		must.Same(t, Verify(c.commit, c.verifier), c.want, c.name)
	}
}

// TestSmallOrderForges shows why such keys are refused: the library takes this signature of
// anything by the key of order 1.
func TestSmallOrderForges(t *testing.T) {
	key, signature := make([]byte, KeyLen), make([]byte, ed25519.SignatureSize)
	key[0], signature[0] = 1, 1
	must.True(t, ed25519.Verify(key, []byte("nobody signed this"), signature),
		"the library refuses it: the check may go")
}

func TestSignRefusesSigner(t *testing.T) {
	broken := errors.New("no pen")
	for want, sign := range map[error]SignFunc{
		broken:       func([]byte) ([]byte, error) { return nil, broken },
		ErrSignature: func([]byte) ([]byte, error) { return []byte("signed"), nil },
		ErrUnsigned:  func([]byte) ([]byte, error) { return nil, nil },
	} {
		c := goldenCommit()
		must.Fail(t, c.Sign(sign), want)
		must.Equal(t, cmp.Diff(goldenCommit(), c, equalRecords), "", "the commit changed")
	}
}

func toLittle(n *big.Int) []byte {
	out := make([]byte, KeyLen)
	for i, x := range n.Bytes() {
		out[len(n.Bytes())-1-i] = x
	}
	return out
}

// point is a point of the curve −x² + y² = 1 + d·x²·y² in plain coordinates.
type point struct{ x, y *big.Int }

func mod(n *big.Int) *big.Int { return n.Mod(n, prime) }

func inverse(n *big.Int) *big.Int { return new(big.Int).ModInverse(n, prime) }

var curveD = mod(new(big.Int).Mul(big.NewInt(-121665), inverse(big.NewInt(121666))))

func (p point) add(q point) point {
	mul := func(a, b *big.Int) *big.Int { return mod(new(big.Int).Mul(a, b)) }
	plus := func(a, b *big.Int) *big.Int { return mod(new(big.Int).Add(a, b)) }
	one := big.NewInt(1)
	dxy := mul(curveD, mul(mul(p.x, q.x), mul(p.y, q.y)))
	minus := mod(new(big.Int).Sub(one, dxy))
	return point{
		mul(plus(mul(p.x, q.y), mul(p.y, q.x)), inverse(plus(one, dxy))),
		mul(plus(mul(p.y, q.y), mul(p.x, q.x)), inverse(minus)),
	}
}

// pointAt returns a point with this y, by the definition of the curve.
func pointAt(y *big.Int) (point, bool) {
	yy := mod(new(big.Int).Mul(y, y))
	u := new(big.Int).Sub(yy, big.NewInt(1))
	v := new(big.Int).Add(new(big.Int).Mul(curveD, yy), big.NewInt(1))
	x := new(big.Int).ModSqrt(mod(u.Mul(u, inverse(mod(v)))), prime)
	return point{x, y}, x != nil
}

func TestKeyPoints(t *testing.T) {
	ys := map[string]bool{}
	for _, y := range smallOrder {
		p, ok := pointAt(y)
		must.Require(t, ok, "no point with y = %x", y)
		two := p.add(p)
		eight := two.add(two)
		eight = eight.add(eight)
		must.True(t, eight.x.Sign() == 0 && eight.y.Cmp(big.NewInt(1)) == 0,
			"the order of the point with y = %x does not divide 8", y)
		// The multiples of a point of order 8 are all points whose order divides 8.
		for i, q := 0, p; i < 8; i, q = i+1, q.add(p) {
			ys[q.y.String()] = true
		}
		for _, sign := range []byte{0, 0x80} {
			k := Key(toLittle(y))
			k[31] |= sign
			expectField(t, "key", k.Validate())
		}
	}
	must.Equal(t, len(ys), len(smallOrder), "values of y, listed")
	for i := range int64(19) { // the encodings of 255 bits that are not below the prime
		k := Key(toLittle(new(big.Int).Add(prime, big.NewInt(i))))
		expectField(t, "key", k.Validate())
	}
	on := 0
	for y := int64(2); y < 200; y++ {
		_, ok := pointAt(big.NewInt(y))
		err := Key(toLittle(big.NewInt(y))).Validate()
		must.True(t, (err == nil) == ok, "y = %d: on the curve %v, error %v", y, ok, err)
		if ok {
			on++
		}
	}
	must.True(t, on >= 50 && on <= 150, "%d of 198 on the curve, want about half", on)
}

func TestKeyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.SliceOfN(rapid.Byte(), KeyLen, KeyLen).Draw(t, "seed")
		s := must.Get(NewSecret(bytes.NewReader(seed)))(t)
		key := s.Key()
		if got, err := ParseKey(key.String()); got != key || err != nil {
			t.Fatalf("ParseKey(%s) = %s, %v", key, got, err)
		}
		if got, err := ParseSecret(s.Reveal()); got != s || err != nil {
			t.Fatalf("ParseSecret of what Reveal gave: %v", err)
		}
		if got := key.Fingerprint(); len(got) != 19 || strings.Count(got, "-") != 3 {
			t.Fatalf("fingerprint %q", got)
		}
		// Any one other digit is noticed.
		text := []byte(key.String())
		at := rapid.IntRange(len(KeyPrefix), len(text)-1).Draw(t, "at")
		was := text[at]
		text[at] = rapid.SampledFrom([]byte("abcdefghijklmnopqrstuvwxyz234567")).Draw(t, "digit")
		if got, err := ParseKey(string(text)); err == nil && text[at] != was {
			t.Fatalf("%s read as %s", text, got)
		}
	})
}

func TestKeyTextRefused(t *testing.T) {
	s := secretOf(t, rfcSeed)
	text := s.Key().String()
	for name, bad := range map[string]string{
		"empty": "", "upper case": strings.ToUpper(text), "cut": text[:len(text)-1],
		"longer": text + "a", "line end": text + "\n", "line end inside": text[:20] + "\n" + text[20:],
		"line end for a digit": text[:20] + "\n" + text[21:], "space": " " + text,
		"padded": text + "====", "no prefix": strings.TrimPrefix(text, KeyPrefix),
		"secret": s.Reveal(), "fingerprint": s.Key().Fingerprint(),
		"small order": keyText(make([]byte, KeyLen), KeyPrefix, keyDomain),
	} {
		_, err := ParseKey(bad)
		expectField(t, "key", err)
		must.Require(t, !t.Failed(), "%v", name)
	}
	_, err := ParseSecret(text)
	expectField(t, "secret", err)
	_, err = ParseSecret(s.Reveal()[:60])
	expectField(t, "secret", err)
	must.True(t, !strings.Contains(err.Error(), s.Reveal()[30:50]), "error %q shows the secret", err)
	must.True(t, must.Err(NewSecret(strings.NewReader("too short"))) != nil, "a secret of 9 bytes")
}

func TestSecretIsNotPrinted(t *testing.T) {
	s := secretOf(t, rfcSeed)
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		for _, v := range []any{s, &s, []Secret{s}, map[string]any{"k": s}} {
			got := fmt.Sprintf(format, v)
			must.True(t, !strings.Contains(got, "9d61") && !strings.Contains(got, "157") &&
				strings.Contains(got, "(secret)"), "%s of %T prints %s", format, v, got)
		}
	}
}

func FuzzParseKey(f *testing.F) {
	s := must.Get(NewSecret(bytes.NewReader(make([]byte, KeyLen))))(f)
	f.Add(s.Key().String())
	f.Add(s.Reveal())
	f.Fuzz(func(t *testing.T, text string) {
		k, err := ParseKey(text)
		must.True(t, err != nil || k.String() == text, "%q reads as %s", text, k)
		s, err := ParseSecret(text)
		must.True(t, err != nil || s.Reveal() == text, "%q reads as another secret", text)
	})
}

// FuzzSigner takes any bytes as the signature of one commit: only the one made for it is valid.
func FuzzSigner(f *testing.F) {
	good := signedCommit(f).Signature
	f.Add(good)
	f.Add(good[:96])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, signature []byte) {
		if len(signature) > MaxSignature {
			return
		}
		c := goldenCommit()
		c.Signature = signature
		key, err := c.Signer()
		must.True(t, err != nil || bytes.Equal(signature, good), "%x holds, by %s", signature, key)
		if len(signature) == 0 {
			return
		}
		_, err = DecodeCommit(c.Encode())
		must.True(t, err == nil || errors.Is(err, ipld.ErrInvalid), "decode: %v", err)
	})
}

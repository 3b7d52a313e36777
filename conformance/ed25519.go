package main

import (
	"crypto/sha512"
	"math/big"
)

// The curve of Ed25519 in plain coordinates: −x² + y² = 1 + d·x²·y² over the field of p elements.
// Slow, and only for keys and signatures that no library makes.

type curvePoint struct{ x, y *big.Int }

var (
	fieldP = bigHex("7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffed")
	orderL = bigHex("1000000000000000000000000000000014def9dea2f79cd65812631a5cf5d3ed")
	curveD = inField(new(big.Int).Mul(big.NewInt(-121665), inverse(big.NewInt(121666))))
	// curveB is the base point: the one with y = 4/5 and an even x.
	curveB = decodePoint(littleEndian(inField(new(big.Int).Mul(big.NewInt(4),
		inverse(big.NewInt(5))))))
	// torsion8 is a point of order 8.
	torsion8 = decodePoint(unhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"))
)

func bigHex(s string) *big.Int { return new(big.Int).SetBytes(unhex(s)) }

func inField(n *big.Int) *big.Int { return new(big.Int).Mod(n, fieldP) }

func inverse(n *big.Int) *big.Int { return new(big.Int).ModInverse(n, fieldP) }

// littleEndian is n in 32 bytes, the lowest first.
func littleEndian(n *big.Int) []byte {
	out := make([]byte, 32)
	for i, b := range n.Bytes() {
		out[len(n.Bytes())-1-i] = b
	}
	return out
}

func fromLittle(b []byte) *big.Int {
	be := make([]byte, len(b))
	for i, x := range b {
		be[len(b)-1-i] = x
	}
	return new(big.Int).SetBytes(be)
}

// xOf is a square root of (y² − 1)/(d·y² + 1), nil where there is none.
func xOf(y *big.Int) *big.Int {
	yy := new(big.Int).Mul(y, y)
	u := new(big.Int).Sub(yy, big.NewInt(1))
	v := new(big.Int).Add(new(big.Int).Mul(curveD, yy), big.NewInt(1))
	return new(big.Int).ModSqrt(inField(u.Mul(u, inverse(inField(v)))), fieldP)
}

func decodePoint(b []byte) curvePoint {
	clear := append([]byte{}, b...)
	clear[31] &= 0x7f
	y := fromLittle(clear)
	x := xOf(y)
	if x == nil {
		panic("not a point of the curve")
	}
	if byte(x.Bit(0)) != b[31]>>7 {
		x = inField(new(big.Int).Neg(x))
	}
	return curvePoint{x, y}
}

func (p curvePoint) encode() []byte {
	b := littleEndian(p.y)
	b[31] |= byte(p.x.Bit(0)) << 7
	return b
}

func (p curvePoint) add(q curvePoint) curvePoint {
	mul := func(a, b *big.Int) *big.Int { return inField(new(big.Int).Mul(a, b)) }
	one := big.NewInt(1)
	dxy := mul(curveD, mul(mul(p.x, q.x), mul(p.y, q.y)))
	x := new(big.Int).Add(mul(p.x, q.y), mul(p.y, q.x))
	y := new(big.Int).Add(mul(p.y, q.y), mul(p.x, q.x))
	return curvePoint{
		mul(x, inverse(inField(new(big.Int).Add(one, dxy)))),
		mul(y, inverse(inField(new(big.Int).Sub(one, dxy)))),
	}
}

// times is [n]p.
func (p curvePoint) times(n *big.Int) curvePoint {
	sum := curvePoint{big.NewInt(0), big.NewInt(1)}
	for i := n.BitLen() - 1; i >= 0; i-- {
		if sum = sum.add(sum); n.Bit(i) == 1 {
			sum = sum.add(p)
		}
	}
	return sum
}

// hashScalar is sha2-512 of the joined parts as a number below L.
func hashScalar(parts ...[]byte) *big.Int {
	h := sha512.New()
	for _, p := range parts {
		h.Write(p)
	}
	return new(big.Int).Mod(fromLittle(h.Sum(nil)), orderL)
}

// signMixed signs a message for the key [secret]B + torsion8 with the nonce point [nonce]B, and
// returns key, signature and k. It holds for a verifier that multiplies by the cofactor, and for
// one that does not where k is a multiple of 8.
func signMixed(secret, nonce *big.Int, message []byte) (key, signature []byte, k *big.Int) {
	key = curveB.times(secret).add(torsion8).encode()
	r := curveB.times(nonce).encode()
	k = hashScalar(r, key, message)
	s := new(big.Int).Mul(k, secret)
	s.Mod(s.Add(s, nonce), orderL)
	return key, append(r, littleEndian(s)...), k
}

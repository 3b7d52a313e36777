// Command gen writes hash.jsonl, the golden vectors of the model of hashed features. It follows
// the documentation of package embed and clause 6 of the specification, and imports neither the
// package nor anything it is made of: big numbers where that has integers, lists where it has
// maps.
//
//	go run ./testdata/gen -spec ../../spec > testdata/hash.jsonl
package main

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"math/big"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

func main() {
	spec := flag.String("spec", "../../spec", "folder of the specification")
	flag.Parse()
	if err := run(*spec); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(spec string) error {
	if err := loadTables(filepath.Join(spec, "text-tables.txt")); err != nil {
		return err
	}
	if err := loadStopWords(filepath.Join(spec, "text.md")); err != nil {
		return err
	}
	out := bufio.NewWriter(os.Stdout)
	for _, language := range []string{"en", "none"} {
		for _, s := range texts() {
			line, err := json.Marshal(map[string]string{
				"model": "hash-1:" + language, "text": s, "vector": hex.EncodeToString(vector(s, language)),
			})
			if err != nil {
				return err
			}
			fmt.Fprintf(out, "%s\n", line)
		}
	}
	return out.Flush()
}

// texts are the cases: each rule of the model and of the analysis has one that shows it.
func texts() []string {
	return []string{
		"", " \t\n", "…—!?", "the and of",
		"a", "ab", "abc", "memory", "memory memory memory",
		"Alice leads infra; Bob runs the gateway.",
		"alice LEADS infra bob runs gateway",
		"HTTPServer utf8Decode iPhone15Pro snake_case kebab-case",
		"3.14 1,000,000 v1.2.3 it's the keeper's",
		"Café naïve ﬁne Ⅷ Straße İstanbul",
		"東京タワーは高い", "がぎぐ カ゛", "ภาษาไทย", "서울 대한민국", "Привет, мир", "مرحبا",
		"🙂 ok 🙂", "zero\u200dwidth soft\u00adhyphen",
		strings.Repeat("x", 80), strings.Repeat("Ab", 140),
		strings.Repeat("to be or not to be ", 40) + "question",
		"The quick brown fox jumps over the lazy dog while universities hop past.",
	}
}

type feature struct {
	bytes  string
	weight int64
}

// vector returns the bytes of the vector, none where there is none.
func vector(s, language string) []byte {
	var all []feature
	for _, term := range analyse(s, language) {
		all = append(all, feature{"w" + term, 4})
		padded := []rune("<" + term + ">")
		for n := 3; n <= 5 && n < len(padded); n++ {
			for i := 0; i+n <= len(padded); i++ {
				all = append(all, feature{"g" + string(padded[i:i+n]), 1})
			}
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].bytes < all[j].bytes })
	sums := make([]*big.Int, 512)
	for i := range sums {
		sums[i] = new(big.Int)
	}
	for i := 0; i < len(all); {
		j := i
		for j < len(all) && all[j] == all[i] {
			j++
		}
		h := finish(all[i].bytes)
		add := big.NewInt(all[i].weight * (1<<16 + log2(int64(j-i))))
		if h.Bit(63) == 1 {
			add.Neg(add)
		}
		at := new(big.Int).Mod(h, big.NewInt(512)).Int64()
		sums[at].Add(sums[at], add)
		i = j
	}
	return quantise(sums)
}

// finish returns FNV-1a of the feature after the finaliser.
func finish(s string) *big.Int {
	f := fnv.New64a()
	f.Write([]byte(s))
	h := new(big.Int).SetUint64(f.Sum64())
	for _, factor := range []string{"ff51afd7ed558ccd", "c4ceb9fe1a85ec53", "1"} {
		h.Xor(h, new(big.Int).Rsh(h, 33))
		k, _ := new(big.Int).SetString(factor, 16)
		h.Mul(h, k)
		h.Mod(h, new(big.Int).Lsh(big.NewInt(1), 64))
	}
	return h
}

// log2 follows the six steps of the specification's logarithm for n of at least 1.
func log2(n int64) int64 {
	e := int64(0)
	for n>>(e+1) > 0 {
		e++
	}
	m := new(big.Int).Lsh(big.NewInt(n), uint(31-e))
	r := e << 16
	for i := 15; i >= 0; i-- {
		m.Rsh(m.Mul(m, m), 31)
		if m.BitLen() > 32 {
			m.Rsh(m, 1)
			r += 1 << i
		}
	}
	return r
}

// quantise is clause 3.6: one product and one quotient, each rounded to 53 bits.
func quantise(sums []*big.Int) []byte {
	most := new(big.Int)
	for _, s := range sums {
		if a := new(big.Int).Abs(s); a.Cmp(most) > 0 {
			most = a
		}
	}
	if most.Sign() == 0 {
		return nil
	}
	double := func() *big.Float { return new(big.Float).SetPrec(53) }
	out := make([]byte, len(sums))
	for i, s := range sums {
		product := double().Mul(double().SetInt(s), double().SetInt64(127))
		quotient := double().Quo(product, double().SetInt(most))
		out[i] = byte(roundEven(quotient))
	}
	return out
}

func roundEven(x *big.Float) int64 {
	doubled, _ := new(big.Float).SetPrec(200).Mul(x, big.NewFloat(2)).Rat(nil)
	floor := new(big.Int).Div(doubled.Num(), doubled.Denom()) // Euclidean: the floor
	whole := doubled.IsInt()
	n := floor.Int64()
	switch {
	case n&1 == 0: // between k and k + 1/2
		return n >> 1
	case whole && n>>1&1 == 0: // exactly k + 1/2, k even
		return n >> 1
	}
	return n>>1 + 1
}

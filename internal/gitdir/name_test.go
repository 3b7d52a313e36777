package gitdir

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// TestNames checks the mapping of names: valid names of memory branches stay the same, others are escaped and map
// back.
func TestNames(t *testing.T) {
	cid := ipld.Sum(ipld.DagCBOR, []byte{0xa0}).String()
	for git, want := range map[string]string{
		"main": "main", "feature/login": "feature/login", "fix-#12": "fix-#12", "größe": "größe", "a,b;c'd\"e": "a,b;c'd\"e",
		"100%": "100%25", "50%25": "50%2525", "-x": "%2Dx", "a./b": "a%2E/b", "HEAD": "%48EAD", "@": "%40", "@/x": "@/x", "HEAD/x": "HEAD/x",
		"x\xff": "x%FF", "a\u0085b": "a%C2%85b", cid: "%62" + cid[1:], "Main": "Main",
	} {
		got := must.Get(Branch(git))(t, git)
		must.Equal(t, got, want, git)
		back, ok := GitBranch(got)
		must.True(t, ok && back == git, "%q came back as %q, %v", git, back, ok)
	}
	for _, bad := range []string{"", "a b", "a..b", ".a", "a/.b", "a.lock", "a\x00", strings.Repeat("%", 100), "a//b", "a:b"} {
		got, err := Branch(bad)
		must.True(t, err != nil, "%q became %q", bad, got)
	}
	for _, none := range []string{"50%off", "%", "%2", "%2d", "%41", "%2Fx", "a%00", "%61"} {
		got, ok := GitBranch(none)
		must.True(t, !ok, "%q is said to be that of %q", none, got)
	}
}

// TestNamesAreInjective draws names: each name that git allows has a distinct memory branch, which maps back to it.
func TestNamesAreInjective(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	parts := []string{"a", "B", "%", "%2D", "-", ".", "/", "\xff", "\u0085", "é", "HEAD", "@", "25", "#", "\U0001F600"}
	from := make(map[string]string)
	kept := 0
	for range 20000 {
		var name string
		for range 1 + r.IntN(6) {
			name += parts[r.IntN(len(parts))]
		}
		if check(name) != nil {
			continue
		}
		kept++
		got := must.Get(Branch(name))(t, "seed ", seed, ": ", name)
		must.OK(t, graph.ValidateName(got), "seed ", seed, ": ", name, " became ", got)
		back, ok := GitBranch(got)
		must.Require(t, ok && back == name, "seed %d: %q came back from %q as %q", seed, name, got, back)
		other, taken := from[got]
		must.Require(t, !taken || other == name, "seed %d: %q and %q are both %q", seed, name, other, got)
		from[got] = name
	}
	must.Require(t, kept >= 1000, "only %d names of %d", kept, 20000)
}

// TestCheckIsGits compares the accepted names of branches with git's.
func TestCheckIsGits(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("no git")
	}
	for _, name := range []string{"a", "a/b", "a./b", "a.", ".a", "a..b", "a.lock", "a.lock/b", "@", "a@{b", "a@b", "a b", "a~",
		"a^", "a:", "a?", "a*", "a[", `a\`, "a\x7f", "a\x01", "/a", "a/", "a//b", "é", "\xff", "%", "a\u0085"} {
		cmd := exec.Command(git, "check-ref-format", "refs/heads/"+name)
		cmd.Env = os.Environ()
		allowed := cmd.Run() == nil
		got := check(name) == nil
		must.True(t, got == allowed, "%q: %v, and git says %v", name, got, allowed)
	}
}

package distill

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mnem-project/mnem/graph"
)

// Version is the version of everything that digests depend on besides the graph, the rules and the refused texts: text
// analysis, vectors, planes, the shape of tries and the summariser. A new value changes all digests.
//
//	1  sentences by coverage and how many say the same
//	2  names, early sentences and the first ones of facts count more, pleasantries nothing
const Version = 2

// MaxRules is the largest number of rules of a recipe.
const MaxRules = 16

// Kinds of rules.
const (
	ByEdge = "edge" // an edge of a type leads to the scope
	ByProp = "prop" // each value of a property is a scope
	ByType = "type" // each node type is a scope

	// ByCommunity makes each community of the graph's edges a scope. The usual bound on the cost of a change does not
	// hold for it, since communities depend on all edges.
	ByCommunity = "community"
)

// ErrRecipe is wrapped by the error of a rule that is none.
var ErrRecipe = errors.New("invalid scope rule")

// Rule says what makes a scope.
type Rule struct{ Kind, Name string }

func (r Rule) String() string {
	if r.Kind == ByType || r.Kind == ByCommunity {
		return r.Kind
	}
	return r.Kind + ":" + r.Name
}

// Recipe lists the rules for digests. Their order decides which scope is a node's home.
type Recipe struct{ Rules []Rule }

// Default is the recipe if nothing is said.
func Default() Recipe {
	return Recipe{[]Rule{{ByEdge, "part-of"}, {ByEdge, "in"}, {ByEdge, "about"}}}
}

// ParseRules reads rules: edge:TYPE, prop:NAME, type or community. None gives Default. The error wraps ErrRecipe.
func ParseRules(words []string) (Recipe, error) {
	if len(words) == 0 {
		return Default(), nil
	}
	if len(words) > MaxRules {
		return Recipe{}, fmt.Errorf("%w: %d rules, limit %d", ErrRecipe, len(words), MaxRules)
	}
	var r Recipe
	for _, w := range words {
		kind, name, _ := strings.Cut(w, ":")
		ok := utf8.ValidString(name) && len(name) <= graph.MaxType && !strings.ContainsAny(name, "\x00\n")
		switch kind {
		case ByEdge, ByProp:
			ok = ok && name != ""
		case ByType, ByCommunity:
			ok = w == kind
		default:
			ok = false
		}
		rule := Rule{kind, name}
		if !ok || slices.Contains(r.Rules, rule) {
			return Recipe{}, fmt.Errorf("%w %.80q: want edge:TYPE, prop:NAME, type or community, each once", ErrRecipe, w)
		}
		r.Rules = append(r.Rules, rule)
	}
	return r, nil
}

// Hash identifies the recipe.
func (r Recipe) Hash() [sha256.Size]byte {
	text := fmt.Sprintf("mnem:digests:%d\n", Version)
	for _, rule := range r.Rules {
		text += rule.String() + "\n"
	}
	return sha256.Sum256([]byte(text))
}

// HasRule reports whether there is a rule of a kind.
func (r Recipe) HasRule(kind string) bool {
	return slices.ContainsFunc(r.Rules, func(one Rule) bool { return one.Kind == kind })
}

// CommunityName is the name of the scope that is a community, by the smallest id in it.
func CommunityName(smallest graph.ID) string { return communityPrefix + smallest.String() }

const communityPrefix = ByCommunity + " "

// IsCommunity reports whether a name belongs to a community, and so describes nothing.
func IsCommunity(name string) bool { return strings.HasPrefix(name, communityPrefix) }

// PseudoScope returns the id of a scope that is no node: a value of a property, a node type or a community.
func PseudoScope(name string) graph.ID {
	sum := sha256.Sum256([]byte("mnem:scope:" + name))
	return graph.ID(sum[:graph.IDLen])
}

package cli

import (
	"github.com/mnem-project/mnem/internal/integrate"
	"github.com/mnem-project/mnem/internal/settings"
	"github.com/mnem-project/mnem/remote/place"
	"github.com/mnem-project/mnem/remote/trade"
)

// printed is what a command prints as JSON: one of several answers, or any number of lines.
type printed struct {
	answers []any
	lines   bool
}

// machineAnswers are what commands print that are no verbs: they are about this machine, its clients and
// its keys, and what agents may do.
func machineAnswers() map[string]printed {
	one := func(answers ...any) printed { return printed{answers, false} }
	lines := func(answer any) printed { return printed{[]any{answer}, true} }
	return map[string]printed{
		"mnem init": one(initJSON{}), "mnem demo": lines(demoJSON{}), "mnem serve": one(serveJSON{}),
		"mnem view":       one(serveJSON{}),
		"mnem config get": one(settings.InEffect{}), "mnem config list": lines(settings.InEffect{}),
		"mnem integrate":   one(integrate.Done{}, integrationsJSON{}, clientsJSON{}),
		"mnem unintegrate": one(integrate.Done{}, integrationsJSON{}),
		"mnem policy init": one(policyJSON{}), "mnem policy show": one(policyJSON{}),
		"mnem policy check": one(policyJSON{}, verdictJSON{}, operationsJSON{}),
		"mnem token new":    one(newTokenJSON{}), "mnem token list": lines(listedTokenJSON{}),
		"mnem token revoke": one(revokedJSON{}),
		"mnem guard check":  lines(guardFindingJSON{}), "mnem guard rules": lines(guardRuleJSON{}),
		"mnem remote add": one(place.Remote{}), "mnem remote list": lines(place.Remote{}),
		"mnem remote set-url": one(place.Remote{}), "mnem remote rm": one(place.Remote{}),
		"mnem backup": one(backupJSON{}), "mnem clone": one(trade.Cloned{}), "mnem fetch": one(trade.Fetched{}), "mnem push": one(trade.Pushed{}),
		"mnem pull": one(pullJSON{}), "mnem sync": one(trade.Synced{}),
		"mnem key new": one(keyJSON{}), "mnem key list": lines(keyJSON{}), "mnem key show": one(keyJSON{}),
		"mnem key import": one(keyJSON{}), "mnem key trust": one(keyJSON{}),
		"mnem key revoke": one(keyJSON{}), "mnem key untrust": one(keyJSON{}),
		"mnem key rm": one(removedJSON{}), "mnem key export": one(exportedKeyJSON{}),
	}
}

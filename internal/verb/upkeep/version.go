package upkeep

import (
	"context"
	"runtime"
	"runtime/debug"

	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/retrieve"
)

// recordFormat is the version of the records that this program writes.
const recordFormat = 1

// VersionRequest asks for the versions of the program.
type VersionRequest struct{}

// Versions are the versions of the program and of its formats.
type Versions struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Format   int    `json:"format"`
	Ranking  int    `json:"ranking"`
	Analyser int    `json:"analyser"`
}

// Version prints the versions.
var Version = verb.Define(verb.Spec{
	Command: "version", Right: verb.NoRight, Confined: true, Group: "start", Effect: verb.Reads, NoRepo: true, Hidden: true,
	Title: "Print version numbers",
	Doc: "Print the version of the program and of Go, and those of the record format, the ranking and the text\n" +
		"analysis: equal numbers give equal bytes.",
	Example: "  mnem version\n  mnem version --json",
}, func(context.Context, *verb.Service, *VersionRequest) (*Versions, error) { return VersionsHere(), nil })

// VersionsHere returns the versions of this program.
func VersionsHere() *Versions {
	v := &Versions{
		Version: "devel", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Format: recordFormat, Ranking: retrieve.RankingVersion, Analyser: retrieve.AnalyserVersion,
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		if info.Main.Version != "" && info.Main.Version != "(devel)" {
			v.Version = info.Main.Version
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				v.Revision = s.Value
			}
		}
	}
	return v
}
